"""Modules of all families: names, printing, settings, values by hand, refusals."""

import copy
import pickle

import foregrad as fg
import pytest

nn, F = fg.nn, fg.nn.functional

PRINTED = {
    "nn.ConstantPad1d(2, 1.5)": "ConstantPad1d(padding=(2, 2), value=1.5)",
    "nn.ZeroPad2d((1, 0, 2, 1))": "ZeroPad2d((1, 0, 2, 1))",
    "nn.CircularPad3d(1)": "CircularPad3d((1, 1, 1, 1, 1, 1))",
    "nn.Upsample(scale_factor=2)": "Upsample(scale_factor=2.0, mode='nearest')",
    "nn.UpsamplingBilinear2d(size=5)": "UpsamplingBilinear2d(size=5, mode='bilinear')",
    "nn.Bilinear(2, 3, 4)": "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)",
    "nn.EmbeddingBag(7, 3, mode='sum', max_norm=1.0, padding_idx=-1)":
        "EmbeddingBag(7, 3, max_norm=1.0, mode='sum', padding_idx=6)",
    "nn.Fold((4, 5), 2)": "Fold(output_size=(4, 5), kernel_size=2, dilation=1, padding=0, "
                          "stride=1)",
    "nn.PixelShuffle(2)": "PixelShuffle(upscale_factor=2)",
    "nn.CosineSimilarity()": "CosineSimilarity()",
    "nn.LocalResponseNorm(2)": "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)",
    "nn.SyncBatchNorm(3)": "SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, "
                           "track_running_stats=True)",
    "nn.CELU(2.0, True)": "CELU(alpha=2.0, inplace=True)", "nn.Hardswish(True)": "Hardswish()",
    "nn.PReLU(3, 0.1)": "PReLU(num_parameters=3)", "nn.ReLU6(True)": "ReLU6(inplace=True)",
    "nn.RReLU()": "RReLU(lower=0.125, upper=0.3333333333333333)",
    "nn.AlphaDropout(0.2)": "AlphaDropout(p=0.2, inplace=False)",
    "nn.LPPool2d(1.2, 3, stride=2)": "LPPool2d(norm_type=1.2, kernel_size=3, stride=2, "
                                     "ceil_mode=False)",
    "nn.MaxUnpool2d(2, stride=1)": "MaxUnpool2d(kernel_size=(2, 2), stride=(1, 1), padding=(0, 0))",
    "nn.AvgPool1d(2)": "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))",
    "nn.Conv2d(2, 3, 3, padding='same', padding_mode='circular')":
        "Conv2d(2, 3, kernel_size=(3, 3), stride=(1, 1), padding=same, padding_mode=circular)",
    "nn.DataParallel(nn.ReLU())": "DataParallel(\n  (module): ReLU()\n)",
}


@pytest.mark.parametrize("text", PRINTED)
def test_modules_print_as_in_pytorch_and_travel(text):
    module = eval(text)
    assert repr(module) == PRINTED[text]
    assert repr(copy.deepcopy(module)) == repr(pickle.loads(pickle.dumps(module))) == PRINTED[text]


REFUSED = {
    "nn.Bilinear(0, 2, 3)": (ValueError, "in1_features must be > 0"),
    "nn.EmbeddingBag(3, 2, padding_idx=3)": (AssertionError, "padding_idx must be within"),
    "nn.FractionalMaxPool2d(2)": (ValueError, "either an output size, or a pooling ratio"),
    "nn.FractionalMaxPool2d(2, 1, 0.5)": (ValueError, "only one of output_size"),
    "nn.FractionalMaxPool3d(2, output_ratio=2)": (ValueError, "between 0 and 1"),
    "nn.TripletMarginLoss(margin=0)": (ValueError, "margin to be greater than 0"),
    "nn.MultiMarginLoss(p=3)": (ValueError, "only p == 1 and p == 2"),
    "nn.AdaptiveLogSoftmaxWithLoss(3, 5, [3, 2])": (ValueError, "unique, positive integers"),
    "nn.Unflatten(1, (2, 2.5))": (TypeError, "element of type float at pos 1"),
    "nn.Unflatten(1, 3)": (TypeError, "must be a tuple of ints"),
    "nn.SyncBatchNorm(3)(fg.ones(3))": (ValueError, "expected at least 2D input"),
    "nn.SyncBatchNorm(3, process_group=3)": (NotImplementedError, "groups of processes are not"),
    "nn.CrossMapLRN2d(3)(fg.ones(3))": (ValueError, "Expected input to be 4D, got 1D"),
    "nn.CircularPad2d(1)(fg.ones(3))": (ValueError, "expected 3D or 4D input"),
    "nn.Softmax2d()(fg.ones(3))": (ValueError, "3D or 4D, got 1D"),
    "nn.ConvTranspose2d(1, 1, 2)(fg.ones(1, 1, 3, 3), output_size=[9, 9])":
        (ValueError, r"valid sizes range from \[4, 4\] to \[4, 4\]"),
    "nn.ConvTranspose2d(1, 1, 2)(fg.ones(1, 1, 3, 3), output_size=[9])":
        (ValueError, "must have 2 or 4 elements"),
    "nn.InstanceNorm1d(4, affine=True)(fg.ones(2, 3, 4))":
        (ValueError, "dim=1 to match num_features"),
    "nn.LinearCrossEntropyOptions(acc_policy='x')": (ValueError, "invalid acc_policy"),
    "nn.parallel.DistributedDataParallel(nn.ReLU())": (RuntimeError, "several processes"),
    "nn.factory_kwargs({'some': 1})": (TypeError, "unexpected kwargs"),
    "nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(fg.ones(2, 4), fg.tensor([0, 7]))":
        (RuntimeError, r"Target values should be in \[0, 4\]"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_wrong_settings_and_inputs_are_refused(text):
    kind, words = REFUSED[text]
    with pytest.raises(kind, match=words):
        eval(text)


def test_classes_have_the_bases_that_programs_ask_for():
    modules = nn.modules
    assert isinstance(nn.ReLU6(), nn.Hardtanh) and isinstance(
        nn.SyncBatchNorm(2), modules.batchnorm._BatchNorm)
    assert not isinstance(nn.InstanceNorm2d(2), modules.batchnorm._BatchNorm)
    assert isinstance(nn.ConvTranspose1d(1, 1, 1), modules.conv._ConvNd)
    assert isinstance(nn.AlphaDropout(), modules.dropout._DropoutNd)
    assert isinstance(nn.CTCLoss(), modules.loss._Loss)
    assert modules.conv.LazyConv2d is nn.LazyConv2d
    assert modules.container.ParameterList is nn.ParameterList


def test_old_names_warn():
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        nn.NLLLoss2d()
    with pytest.warns(FutureWarning, match="renamed to `min_val`"):
        assert repr(nn.Hardtanh(min_value=-2.0)) == "Hardtanh(min_val=-2.0, max_val=1.0)"
    with pytest.warns(FutureWarning, match="nn.Container"):
        assert list(nn.Container(a=nn.ReLU())._modules) == ["a"]


def test_batch_norms_become_synchronised_with_the_same_tensors():
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.BatchNorm1d(3)))
    made = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert made is model and type(model[1][0]) is nn.SyncBatchNorm
    x = fg.randn(6, 3)
    plain = nn.BatchNorm1d(3)
    plain.load_state_dict(model[1][0].state_dict())
    assert model[1][0](x).equal(plain(x))
    assert model[1][0].running_mean.equal(plain.running_mean)


def test_the_classes_of_an_adaptive_softmax_have_probabilities():
    fg.manual_seed(0)
    module = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0)
    x, target = fg.randn(6, 8), fg.tensor([0, 3, 4, 9, 10, 19])
    every = module.log_prob(x)
    assert every.exp().sum(1).allclose(fg.ones(6))
    output, loss = module(x, target)
    assert output.allclose(every.gather(1, target.unsqueeze(1)).squeeze(1))
    assert loss.allclose(-output.mean()) and module.predict(x).equal(every.argmax(1))
    alone = module(x[2], target[2])
    assert alone.output.allclose(output[2]) and alone.output.dim() == 0


def test_neighbouring_channels_normalise_each_other():
    x = fg.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 4, 1, 1)
    found = nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0, k=0.0)(x).flatten()
    # The first channel stays in the sums of all others, as in PyTorch.
    assert found.allclose(fg.tensor([1 / 5, 2 / 14, 3 / 30, 4 / 26]))


def test_prefixes_of_states_are_taken_off():
    state = nn.DataParallel(nn.Linear(1, 1)).state_dict()
    assert list(state) == ["module.weight", "module.bias"]
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["weight", "bias"]
    nn.Linear(1, 1).load_state_dict(state)


def test_gradients_of_convolutions_have_names():
    x, w = fg.randn(2, 4, 7, requires_grad=True), fg.randn(6, 2, 3, requires_grad=True)
    out = F.conv1d(x, w, None, 2, 1, 1, 2)
    grad = fg.randn(*out.shape)
    of_x, of_w = fg.autograd.grad(out, [x, w], grad)
    more = (grad, 2, 1, 1, 2)
    assert nn.grad.conv1d_input(x.shape, w.detach(), *more).allclose(of_x, atol=1e-6)
    assert nn.grad.conv1d_weight(x.detach(), w.shape, *more).allclose(of_w, atol=1e-5)


def test_dictionaries_of_parameters_are_dictionaries():
    one = nn.ParameterDict({"b": fg.ones(1), "a": fg.ones(2)})
    assert list(one) == ["a", "b"], "plain dictionaries are sorted, as in PyTorch"
    both = one | nn.ParameterDict({"c": fg.ones(3)})
    assert list(both) == ["a", "b", "c"] and list(reversed(both)) == ["c", "b", "a"]
    assert both.popitem()[0] == "c" and both.setdefault("d", fg.zeros(1)) is both["d"]
    both |= {"e": fg.ones(1)}
    assert list(both.copy()) == ["a", "b", "d", "e"] and len(list(both.parameters())) == 4
    both.clear()
    assert len(both) == 0 and list(both.parameters()) == []
    assert list(nn.ParameterDict.fromkeys(["x", "y"])) == ["x", "y"]
    for wrong, kind in ((3, TypeError), ([1], TypeError), ([(1, 2, 3)], ValueError),
                        ({3: fg.ones(1)}, TypeError)):
        with pytest.raises(kind):
            one.update(wrong)
