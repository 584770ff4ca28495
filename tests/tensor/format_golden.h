// Output of PyTorch 2.13, with `foregrad.` for `torch.`: a line "> dtype key=value ..." says the
// tensor and options, the lines below are the text. `ramp=a,b` means elements a, a + b, a + 2b, ...
#pragma once

namespace fg {

inline constexpr const char* kFormatGolden = R"GOLDEN(> float32 sizes= values=3
tensor(3.)
> float32 sizes= values=3.14159
tensor(3.1416)
> float32 sizes= values=-0
tensor(-0.)
> float64 sizes= values=1e-5
tensor(1.0000e-05, dtype=foregrad.float64)
> int64 sizes= values=-7
tensor(-7)
> bool sizes= values=1
tensor(True)
> float32 sizes=3 values=1,2,3
tensor([1., 2., 3.])
> float32 sizes=3 values=1,2.5,-3
tensor([ 1.0000,  2.5000, -3.0000])
> float32 sizes=4 values=1,nan,inf,-inf
tensor([1., nan, inf, -inf])
> float32 sizes=4 values=1.5,nan,inf,-inf
tensor([1.5000,    nan,    inf,   -inf])
> float32 sizes=3 values=nan,inf,0
tensor([nan, inf, 0.])
> float32 sizes=3 values=0,-0,0
tensor([0., -0., 0.])
> float32 sizes=3 values=1e-5,1,1000
tensor([1.0000e-05, 1.0000e+00, 1.0000e+03])
> float32 sizes=3 values=1,1000,1001
tensor([1.0000e+00, 1.0000e+03, 1.0010e+03])
> float32 sizes=2 values=1e8,1e8
tensor([100000000., 100000000.])
> float32 sizes=2 values=100000008,99999992
tensor([1.0000e+08, 1.0000e+08])
> float64 sizes=3 values=0.0001,0.00009999,0
tensor([1.0000e-04, 9.9990e-05, 0.0000e+00], dtype=foregrad.float64)
> float64 sizes=2 values=1e-300,1e300
tensor([1.0000e-300, 1.0000e+300], dtype=foregrad.float64)
> float16 sizes=3 values=0.1,-65504,6e-8
tensor([ 9.9976e-02, -6.5504e+04,  5.9605e-08], dtype=foregrad.float16)
> bfloat16 sizes=3 values=0.1,3.14159,100
tensor([  0.1001,   3.1406, 100.0000], dtype=foregrad.bfloat16)
> uint8 sizes=4 values=0,7,99,255
tensor([  0,   7,  99, 255], dtype=foregrad.uint8)
> int8 sizes=3 values=-128,0,127
tensor([-128,    0,  127], dtype=foregrad.int8)
> int16 sizes=2,2 values=1,-20,300,-32768
tensor([[     1,    -20],
        [   300, -32768]], dtype=foregrad.int16)
> int32 sizes=12 ramp=-60000,12345
tensor([-60000, -47655, -35310, -22965, -10620,   1725,  14070,  26415,  38760,
         51105,  63450,  75795], dtype=foregrad.int32)
> int64 sizes=20 ramp=990,1
tensor([ 990,  991,  992,  993,  994,  995,  996,  997,  998,  999, 1000, 1001,
        1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009])
> bool sizes=2,3 values=1,0,1,0,0,1
tensor([[ True, False,  True],
        [False, False,  True]])
> float32 sizes=0
tensor([])
> float32 sizes=0,3
tensor([], size=(0, 3))
> int64 sizes=2,0,5
tensor([], size=(2, 0, 5), dtype=foregrad.int64)
> bool sizes=0
tensor([], dtype=foregrad.bool)
> float64 sizes=3,0
tensor([], size=(3, 0), dtype=foregrad.float64)
> float32 sizes=2,3 strides=1,2 ramp=0,0.5
tensor([[0.0000, 1.0000, 2.0000],
        [0.5000, 1.5000, 2.5000]])
> float32 sizes=2,4 strides=0,1 ramp=-1,1
tensor([[-1.,  0.,  1.,  2.],
        [-1.,  0.,  1.,  2.]])
> float32 sizes=2,2,2 ramp=1,1
tensor([[[1., 2.],
         [3., 4.]],

        [[5., 6.],
         [7., 8.]]])
> float64 sizes=2,1,2,2 ramp=-0.25,0.5
tensor([[[[-0.2500,  0.2500],
          [ 0.7500,  1.2500]]],


        [[[ 1.7500,  2.2500],
          [ 2.7500,  3.2500]]]], dtype=foregrad.float64)
> float32 sizes=15 ramp=-1,0.1428
tensor([-1.0000e+00, -8.5720e-01, -7.1440e-01, -5.7160e-01, -4.2880e-01,
        -2.8600e-01, -1.4320e-01, -4.0000e-04,  1.4240e-01,  2.8520e-01,
         4.2800e-01,  5.7080e-01,  7.1360e-01,  8.5640e-01,  9.9920e-01])
> float32 sizes=1001 ramp=0,1
tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])
> float32 sizes=1000,2 ramp=-3,0.25
tensor([[ -3.0000,  -2.7500],
        [ -2.5000,  -2.2500],
        [ -2.0000,  -1.7500],
        ...,
        [495.5000, 495.7500],
        [496.0000, 496.2500],
        [496.5000, 496.7500]])
> int64 sizes=7,8,20 ramp=0,1
tensor([[[   0,    1,    2,  ...,   17,   18,   19],
         [  20,   21,   22,  ...,   37,   38,   39],
         [  40,   41,   42,  ...,   57,   58,   59],
         ...,
         [ 100,  101,  102,  ...,  117,  118,  119],
         [ 120,  121,  122,  ...,  137,  138,  139],
         [ 140,  141,  142,  ...,  157,  158,  159]],

        [[ 160,  161,  162,  ...,  177,  178,  179],
         [ 180,  181,  182,  ...,  197,  198,  199],
         [ 200,  201,  202,  ...,  217,  218,  219],
         ...,
         [ 260,  261,  262,  ...,  277,  278,  279],
         [ 280,  281,  282,  ...,  297,  298,  299],
         [ 300,  301,  302,  ...,  317,  318,  319]],

        [[ 320,  321,  322,  ...,  337,  338,  339],
         [ 340,  341,  342,  ...,  357,  358,  359],
         [ 360,  361,  362,  ...,  377,  378,  379],
         ...,
         [ 420,  421,  422,  ...,  437,  438,  439],
         [ 440,  441,  442,  ...,  457,  458,  459],
         [ 460,  461,  462,  ...,  477,  478,  479]],

        ...,

        [[ 640,  641,  642,  ...,  657,  658,  659],
         [ 660,  661,  662,  ...,  677,  678,  679],
         [ 680,  681,  682,  ...,  697,  698,  699],
         ...,
         [ 740,  741,  742,  ...,  757,  758,  759],
         [ 760,  761,  762,  ...,  777,  778,  779],
         [ 780,  781,  782,  ...,  797,  798,  799]],

        [[ 800,  801,  802,  ...,  817,  818,  819],
         [ 820,  821,  822,  ...,  837,  838,  839],
         [ 840,  841,  842,  ...,  857,  858,  859],
         ...,
         [ 900,  901,  902,  ...,  917,  918,  919],
         [ 920,  921,  922,  ...,  937,  938,  939],
         [ 940,  941,  942,  ...,  957,  958,  959]],

        [[ 960,  961,  962,  ...,  977,  978,  979],
         [ 980,  981,  982,  ...,  997,  998,  999],
         [1000, 1001, 1002,  ..., 1017, 1018, 1019],
         ...,
         [1060, 1061, 1062,  ..., 1077, 1078, 1079],
         [1080, 1081, 1082,  ..., 1097, 1098, 1099],
         [1100, 1101, 1102,  ..., 1117, 1118, 1119]]])
> bfloat16 sizes=8,200 ramp=0,0.01
tensor([[0.0000e+00, 1.0010e-02, 2.0020e-02,  ..., 1.9688e+00, 1.9766e+00,
         1.9922e+00],
        [2.0000e+00, 2.0156e+00, 2.0156e+00,  ..., 3.9688e+00, 3.9844e+00,
         3.9844e+00],
        [4.0000e+00, 4.0000e+00, 4.0312e+00,  ..., 5.9688e+00, 5.9688e+00,
         6.0000e+00],
        ...,
        [1.0000e+01, 1.0000e+01, 1.0000e+01,  ..., 1.2000e+01, 1.2000e+01,
         1.2000e+01],
        [1.2000e+01, 1.2000e+01, 1.2000e+01,  ..., 1.4000e+01, 1.4000e+01,
         1.4000e+01],
        [1.4000e+01, 1.4000e+01, 1.4000e+01,  ..., 1.6000e+01, 1.6000e+01,
         1.6000e+01]], dtype=foregrad.bfloat16)
> float32 sizes=3 values=1,2,3 suffix=requires_grad=True
tensor([1., 2., 3.], requires_grad=True)
> float64 sizes=2,6 ramp=0.125,1 suffix=grad_fn=<AddBackward0>
tensor([[ 0.1250,  1.1250,  2.1250,  3.1250,  4.1250,  5.1250],
        [ 6.1250,  7.1250,  8.1250,  9.1250, 10.1250, 11.1250]],
       dtype=foregrad.float64, grad_fn=<AddBackward0>)
> float64 sizes=8 ramp=0.125,1 suffix=grad_fn=<NativeLayerNormBackward0>
tensor([0.1250, 1.1250, 2.1250, 3.1250, 4.1250, 5.1250, 6.1250, 7.1250],
       dtype=foregrad.float64, grad_fn=<NativeLayerNormBackward0>)
> float16 sizes=0,4 suffix=requires_grad=True
tensor([], size=(0, 4), dtype=foregrad.float16, requires_grad=True)
> float32 sizes=3 values=1.23456789,2,3 precision=7
tensor([1.2345679, 2.0000000, 3.0000000])
> float32 sizes=3 values=1.5,2.5,-3.5 precision=0
tensor([ 2,  2, -4])
> float32 sizes=3 values=1,20,300 sci_mode=1
tensor([1.0000e+00, 2.0000e+01, 3.0000e+02])
> float32 sizes=2 values=1e-9,12345 sci_mode=0
tensor([    0.0000, 12345.0000])
> int64 sizes=12 ramp=0,1 threshold=5 edgeitems=2
tensor([ 0,  1,  ..., 10, 11])
> int64 sizes=3,3 ramp=0,1 threshold=5 edgeitems=0
tensor([...], size=(3, 3))
> float32 sizes=6 ramp=0.5,1 linewidth=20
tensor([0.5000,
        1.5000,
        2.5000,
        3.5000,
        4.5000,
        5.5000])
> float64 sizes=2,3 ramp=0.5,1 linewidth=10
tensor([[0.5000,
         1.5000,
         2.5000],
        [3.5000,
         4.5000,
         5.5000]],
       dtype=foregrad.float64)
)GOLDEN";

}  // namespace fg
