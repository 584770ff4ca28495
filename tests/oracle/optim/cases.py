"""Optimisers with their settings, and schedules: what is compared with PyTorch."""

# Three configurations of each at least.
OPTIMIZERS = {
    "Adadelta": [{}, dict(lr=0.5, rho=0.8, weight_decay=0.1), dict(eps=1e-3, maximize=True)],
    "Adafactor": [{}, dict(lr=0.1, beta2_decay=-0.5, weight_decay=0.1, d=2.0),
                  dict(eps=(1e-5, 1e-2), maximize=True)],
    "Adagrad": [{}, dict(lr_decay=0.1, weight_decay=0.1),
                dict(initial_accumulator_value=0.5, eps=1e-3, maximize=True), dict(fused=True)],
    "Adam": [{}, dict(weight_decay=0.1, betas=(0.8, 0.95)), dict(amsgrad=True, maximize=True),
             dict(foreach=True), dict(fused=True)],
    "AdamW": [{}, dict(weight_decay=0.3, eps=1e-3), dict(amsgrad=True), dict(foreach=True)],
    "Adamax": [{}, dict(weight_decay=0.1, betas=(0.8, 0.9)), dict(eps=1e-2, maximize=True)],
    "ASGD": [{}, dict(lambd=1e-2, alpha=0.5, t0=5), dict(weight_decay=0.1, t0=0, maximize=True)],
    "Muon": [{}, dict(nesterov=False, adjust_lr_fn="match_rms_adamw"),
             dict(momentum=0.8, weight_decay=0.0, ns_steps=3)],
    "NAdam": [{}, dict(weight_decay=0.1, momentum_decay=0.01),
              dict(weight_decay=0.1, decoupled_weight_decay=True, maximize=True)],
    "RAdam": [{}, dict(weight_decay=0.1, betas=(0.8, 0.9)),
              dict(weight_decay=0.1, decoupled_weight_decay=True, maximize=True)],
    "RMSprop": [{}, dict(momentum=0.9, centered=True), dict(alpha=0.8, weight_decay=0.1, eps=1e-3),
                dict(momentum=0.5, maximize=True)],
    "Rprop": [{}, dict(etas=(0.4, 1.1), step_sizes=(1e-4, 0.1)), dict(lr=0.1, maximize=True)],
    "SGD": [{}, dict(momentum=0.9, dampening=0.3, weight_decay=0.01),
            dict(momentum=0.8, nesterov=True), dict(weight_decay=0.1, maximize=True)],
}
LBFGS = [dict(max_iter=5), dict(max_iter=8, line_search_fn="strong_wolfe"),
         dict(lr=0.5, max_iter=10, history_size=3, line_search_fn="strong_wolfe"),
         dict(lr=0.1, max_iter=4, max_eval=3, history_size=2)]

SCHEDULES = [
    "LambdaLR(o, lambda e: 0.95 ** e)", "MultiplicativeLR(o, lambda e: 0.97)", "StepLR(o, 7, 0.5)",
    "MultiStepLR(o, [5, 20, 20, 60], 0.3)", "ConstantLR(o, 0.25, 9)", "LinearLR(o, 0.1, 0.9, 30)",
    "ExponentialLR(o, 0.95)", "PolynomialLR(o, 40, 0.9)", "PolynomialLR(o)",
    "CosineAnnealingLR(o, 40, 1e-3)", "CosineAnnealingLR(o, 7)",
    "CosineAnnealingWarmRestarts(o, 10, 2, 1e-3)", "CosineAnnealingWarmRestarts(o, 9)",
    "OneCycleLR(o, 0.5, total_steps=120)",
    "OneCycleLR(o, [0.5, 1.0], epochs=10, steps_per_epoch=12, anneal_strategy='linear', "
    "three_phase=True, pct_start=0.25)",
    "CyclicLR(o, 0.01, 0.1, 10)", "CyclicLR(o, [0.01, 0.02], 0.1, 8, 5, mode='triangular2')",
    "CyclicLR(o, 0.01, 0.1, 10, mode='exp_range', gamma=0.97, cycle_momentum=False)",
    "CyclicLR(o, 0.01, 0.1, 6, scale_fn=lambda x: 1 / x, scale_mode='cycle')",
    "SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 10), s.CosineAnnealingLR(o, 80)], [10])",
    "SequentialLR(o, [s.ConstantLR(o, 0.5, 4), s.CosineAnnealingWarmRestarts(o, 9)], [6])",
    "ChainedScheduler([s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.9)])",
    "ChainedScheduler([s.SequentialLR(o, [s.ConstantLR(o, 0.5, 4), s.StepLR(o, 5)], [6]), "
    "s.PolynomialLR(o, 50, 2.0)])",
]
PLATEAUS = ["ReduceLROnPlateau(o, patience=3)", "ReduceLROnPlateau(o, 'max', 0.5, 2, cooldown=2)",
            "ReduceLROnPlateau(o, threshold_mode='abs', threshold=0.1, patience=1, min_lr=1e-3)",
            "ReduceLROnPlateau(o, 'max', patience=0, min_lr=[0.01, 0.001], eps=1e-3, "
            "threshold_mode='abs')"]
AVERAGES = ["SWALR(o, 0.05)", "SWALR(o, [0.05, 0.5], 7, 'linear')", "SWALR(o, 0.2, 0)"]
