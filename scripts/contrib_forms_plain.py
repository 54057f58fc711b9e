"""The forms of operators of com.microsoft that contrib_cases.py records and compares: normalisations, tables, small formulas."""
import numpy as np

from contrib_form import B, F, H, I, I8, L, U8, Draw, Form, arr


def norms(d):
    h = np.float16
    x = d.f(2, 3, 8)
    words = [('ids', d.i(2, 4, hi=9)), ('segments', d.i(2, 4)), ('words', d.f(9, 8)), ('places', d.f(6, 8)), ('kinds', d.f(2, 8)),
             ('gamma', d.f(8)), ('beta', d.f(8))]
    return [
        Form('skip_layer', 'SkipLayerNormalization', [('x', x), ('s', d.f(2, 3, 8)), ('g', d.f(8)), ('be', d.f(8)), ('b', d.f(8))],
             [('y', F), ('', F), ('', F), ('sum', F)], {'epsilon': 1e-5}),
        Form('skip_layer_no_beta', 'SkipLayerNormalization', [('x', x), ('s', d.f(2, 3, 8)), ('g', d.f(8))], [('y', F)]),
        Form('skip_layer_row', 'SkipLayerNormalization', [('x', x), ('s', d.f(3, 8)), ('g', d.f(8)), ('be', d.f(8))], [('y', F)]),
        Form('skip_layer_one', 'SkipLayerNormalization', [('x', x), ('s', d.f(1, 3, 8)), ('g', d.f(8)), ('be', None), ('b', d.f(8))],
             [('y', F)]),
        Form('skip_layer_half', 'SkipLayerNormalization', [('x', d.f(2, 3, 8, dtype=h)), ('s', d.f(2, 3, 8, dtype=h)),
             ('g', d.f(8, dtype=h)), ('be', d.f(8, dtype=h))], [('y', H)], tolerance=1e-2),
        Form('skip_rms', 'SkipSimplifiedLayerNormalization', [('x', x), ('s', d.f(2, 3, 8)), ('g', d.f(8)), ('b', d.f(8))],
             [('y', F), ('', F), ('', F), ('sum', F)], {'epsilon': 1e-5}),
        Form('rms', 'SimplifiedLayerNormalization', [('x', x), ('g', d.f(8))], [('y', F)], {'epsilon': 1e-5, 'axis': -1}, domain=''),
        Form('embed', 'EmbedLayerNormalization', words + [('mask', d.i(2, 4))], [('y', F), ('lengths', I)]),
        Form('embed_sum', 'EmbedLayerNormalization', words, [('y', F), ('lengths', I), ('sum', F)]),
        Form('embed_positions', 'EmbedLayerNormalization', words + [('mask', d.i(2, 4)), ('positions', d.i(2, 4, hi=6))],
             [('y', F), ('lengths', I)], {'epsilon': 1e-3}),
        Form('embed_no_segment', 'EmbedLayerNormalization', [words[0], ('segments', None), words[2], words[3], ('kinds', None),
             words[5], words[6]], [('y', F), ('lengths', I)]),
        Form('embed_no_mask_index', 'EmbedLayerNormalization', words + [('mask', d.i(2, 4))], [('y', F), ('lengths', I)],
             {'mask_index_type': 0}),
    ]


def tables(d):
    u = np.uint8
    f = lambda *s: d.f(*s, lo=0.1, hi=1)
    table = lambda name, inputs, tolerance=1e-6, **attrs: Form(
        'gather_' + name, 'GatherBlockQuantized', inputs, [('y', H if inputs[2][1].dtype == np.float16 else F)], attrs,
        {'d', 's', 'z'} & {n for n, v in inputs if v is not None}, tolerance=tolerance)
    ids = np.array([[0, 4], [2, -1]], np.int64)
    lstm = lambda name, directions, extra, **attrs: Form(
        'lstm_' + name, 'DynamicQuantizeLSTM',
        [('x', d.f(3, 2, 4)), ('w', d.i(directions, 4, 12, lo=-100, hi=100, dtype=np.int8)),
         ('r', d.i(directions, 3, 12, lo=-100, hi=100, dtype=np.int8)), ('b', d.f(directions, 24)), *extra,
         ('ws', np.full((directions,), 0.01, np.float32)), ('wz', np.zeros((directions,), np.int8)),
         ('rs', np.full((directions,), 0.01, np.float32)), ('rz', np.zeros((directions,), np.int8))],
        [('y', F), ('h', F), ('c', F)], {'hidden_size': 3, **attrs}, {'w', 'r', 'b', 'ws', 'wz', 'rs', 'rz'}, tolerance=2e-2)
    middle = [('d', d.i(5, 32, 3, hi=256, dtype=u)), ('i', ids), ('s', f(5, 2, 3)), ('z', d.i(5, 2, 3, hi=256, dtype=u))]
    middle_axis = table('middle_axis', middle, bits=8, block_size=16, quantize_axis=1)  # refused by ONNX Runtime
    wide = [np.repeat(v, 16, axis=1).astype(np.float32) for _, v in (middle[2], middle[3])]
    middle_axis.expected = {'y': ((middle[0][1] - wide[1]) * wide[0])[ids]}
    none = [('lengths', None), ('h0', None), ('c0', None), ('peephole', None)]
    return [
        table('plain', [('d', d.i(5, 16, hi=256, dtype=u)), ('i', ids), ('s', f(5, 2))], bits=4, block_size=16, quantize_axis=1),
        table('zeros', [('d', d.i(5, 16, hi=256, dtype=u)), ('i', ids), ('s', f(5, 2)), ('z', d.i(5, 1, hi=256, dtype=u))], bits=4,
              block_size=16, quantize_axis=1),
        table('ragged', [('d', d.i(5, 12, hi=256, dtype=u)), ('i', ids.astype(np.int32)), ('s', f(5, 2)),
              ('z', d.i(5, 1, hi=256, dtype=u))], bits=4, block_size=16, quantize_axis=-1),
        table('three_blocks', [('d', d.i(5, 24, hi=256, dtype=u)), ('i', ids[0]), ('s', f(5, 3)), ('z', d.i(5, 2, hi=256, dtype=u))],
              bits=4, block_size=16, quantize_axis=1),
        table('bytes', [('d', d.i(5, 32, hi=256, dtype=u)), ('i', ids), ('s', f(5, 2)), ('z', d.i(5, 2, hi=256, dtype=u))], bits=8,
              block_size=16, quantize_axis=1),
        table('bytes_middle', [('d', d.i(5, 32, hi=256, dtype=u)), ('i', ids), ('s', f(5, 2))], bits=8, block_size=16,
              quantize_axis=1),
        table('half', [('d', d.i(5, 16, hi=256, dtype=u)), ('i', ids), ('s', f(5, 2).astype(np.float16))], tolerance=2e-3, bits=4,
              block_size=16, quantize_axis=1),
        table('rank_3', [('d', d.i(5, 3, 16, hi=256, dtype=u)), ('i', ids), ('s', f(5, 3, 2))], bits=4, block_size=16,
              quantize_axis=2),
        middle_axis,
        lstm('plain', 1, none), lstm('both', 2, none, direction='bidirectional'), lstm('reverse', 1, none, direction='reverse'),
        lstm('states', 1, [('lengths', arr(2, 3)), ('h0', d.f(1, 2, 3)), ('c0', d.f(1, 2, 3)), ('peephole', d.f(1, 9))]),
        lstm('clip', 1, none, clip=0.5), lstm('activations', 1, none, activations=['Sigmoid', 'Relu', 'Tanh']),
        Form('matmul_4_bits', 'MatMulNBits', [('a', d.f(2, 3, 32)), ('b', d.i(5, 2, 8, hi=256, dtype=u)), ('s', f(10))], [('y', F)],
             {'K': 32, 'N': 5, 'bits': 4, 'block_size': 16}, {'b', 's'}),
        Form('matmul_4_bits_zeros', 'MatMulNBits', [('a', d.f(2, 3, 40)), ('b', d.i(5, 3, 8, hi=256, dtype=u)), ('s', f(15)),
             ('z', d.i(10, hi=256, dtype=u)), ('g', None), ('c', d.f(5))], [('y', F)], {'K': 40, 'N': 5, 'bits': 4, 'block_size': 16},
             {'b', 's', 'z'}),
        Form('matmul_8_bits', 'MatMulNBits', [('a', d.f(2, 3, 32)), ('b', d.i(5, 2, 16, hi=256, dtype=u)), ('s', f(10)),
             ('z', d.i(10, hi=256, dtype=u))], [('y', F)], {'K': 32, 'N': 5, 'bits': 8, 'block_size': 16}, {'b', 's', 'z'},
             tolerance=1e-2),
        Form('matmul_2_bits', 'MatMulNBits', [('a', d.f(2, 3, 32)), ('b', d.i(5, 2, 4, hi=256, dtype=u)), ('s', f(10))], [('y', F)],
             {'K': 32, 'N': 5, 'bits': 2, 'block_size': 16}, {'b', 's'}),
        Form('matmul_4_bits_groups', 'MatMulNBits', [('a', d.f(2, 3, 32)), ('b', d.i(5, 2, 8, hi=256, dtype=u)), ('s', f(10)),
             ('z', None), ('g', d.i(32))], [('y', F)], {'K': 32, 'N': 5, 'bits': 4, 'block_size': 16}, {'b', 's', 'g'}),
    ]


def plain(d):
    c = lambda name, op, inputs, elem=F, constants=(), **attrs: Form(name, op, inputs, [('y', elem)], attrs, set(constants))
    groups = lambda x, g, b, n, eps: ((x.reshape(*x.shape[:3], n, -1) - x.reshape(*x.shape[:3], n, -1).mean((1, 2, 4), keepdims=True)) /
                                     np.sqrt(x.reshape(*x.shape[:3], n, -1).var((1, 2, 4), keepdims=True) + eps)).reshape(x.shape) * g + b
    x, g, b, s = d.f(2, 3, 2, 8), d.f(8), d.f(8), d.f(2, 8)
    silu = lambda v: v / (1 + np.exp(-v))
    with_skip = x + s[:, None, None, :] + b
    out = [
        c('trilu', 'Trilu', [('x', d.f(3, 4)), ('k', np.array(1, np.int64))], constants=['k'], upper=0),
        c('gather_nd', 'GatherND', [('x', d.f(3, 4)), ('i', np.array([[0, 1], [2, -1]], np.int32))]),
        c('pad', 'Pad', [('x', d.f(2, 3)), ('p', np.array([[0, 2, 1, 0]], np.int64)), ('v', np.array([1.5], np.float32))],
          constants=['p', 'v']),
        c('pad_reflect', 'Pad', [('x', d.f(2, 3)), ('p', np.array([0, 2, 1, 0], np.int64))], constants=['p'], mode='reflect'),
        c('range', 'Range', [('a', np.array(1, np.float32)), ('b', np.array(4, np.float32)), ('d', np.array(0.5, np.float32))],
          constants=['a', 'b', 'd']),
        c('range_plain', 'Range', [('a', np.array([1], np.int64)), ('b', np.array([4], np.int64))], L, ['a', 'b']),
        c('grid_sample', 'GridSample', [('x', d.f(1, 2, 4, 4)), ('g', d.f(1, 3, 3, 2, lo=-1, hi=1))]),
        c('grid_sample_cubic', 'GridSample', [('x', d.f(1, 2, 4, 4)), ('g', d.f(1, 3, 3, 2, lo=-1, hi=1))], mode='bicubic',
          padding_mode='border', align_corners=1),
        Form('unique', 'Unique', [('x', np.round(d.f(9)))], [('y', F), ('i', L), ('n', L)], bounds={'y': '9', 'n': '9'}),
        c('expand_dims', 'ExpandDims', [('x', d.f(2, 3)), ('a', np.array(-1, np.int32))], constants=['a']),
        c('sample_op', 'SampleOp', [('x', d.f(2, 3))]),
        c('c_dist', 'CDist', [('a', d.f(3, 4)), ('b', d.f(5, 4))], metric='euclidean'),
        c('c_dist_squared', 'CDist', [('a', d.f(3, 4)), ('b', d.f(5, 4))], metric='sqeuclidean'),
        c('matmul_integer_16', 'MatMulInteger16', [('a', d.i(2, 3, lo=-999, hi=999, dtype=np.int16)),
          ('b', d.i(3, 4, lo=-999, hi=999, dtype=np.int16))], I),
        Form('group_norm', 'GroupNorm', [('x', x), ('g', g), ('b', b)], [('y', F)], {'activation': 0, 'groups': 4, 'epsilon': 1e-3},
             expected={'y': groups(x, g, b, 4, 1e-3).astype(np.float32)}),
        Form('group_norm_silu', 'GroupNorm', [('x', x), ('g', g), ('b', b)], [('y', F)], {'activation': 1, 'groups': 2},
             expected={'y': silu(groups(x, g, b, 2, 1e-5)).astype(np.float32)}),
        Form('skip_group_norm', 'SkipGroupNorm', [('x', x), ('g', g), ('b', b), ('s', s), ('c', b)], [('y', F), ('sum', F)],
             {'activation': 0, 'groups': 2}, expected={'y': groups(with_skip, g, b, 2, 1e-5).astype(np.float32), 'sum': with_skip}),
        Form('bias_add', 'BiasAdd', [('x', d.f(2, 3, 8)), ('b', g), ('s', d.f(2, 3, 8))], [('y', F)]),
        Form('bias_softmax', 'BiasSoftmax', [('x', d.f(2, 3, 4)), ('b', d.f(2, 1, 4))], [('y', F)], {'axis': 2, 'is_inner_broadcast': 1}),
    ]
    f = {n: v for form in out for n, v in form.inputs if form.name == 'bias_add'}
    out[-2].expected = {'y': f['x'] + f['b'] + f['s']}
    f = {n: v for form in out for n, v in form.inputs if form.name == 'bias_softmax'}
    e = np.exp(f['x'] + f['b'])
    out[-1].expected = {'y': (e / e.sum(-1, keepdims=True)).astype(np.float32)}
    return out
