"""The forms of operators of com.microsoft that contrib_cases.py records and compares: attention, integers, sums."""
import numpy as np

from contrib_form import B, F, H, I, I8, L, U8, Draw, Form, arr
from contrib_forms_plain import norms, plain, tables


def forms(seed):
    d, out = Draw(seed), []
    for family in (multi_head, packed_attention, group_query, rotary, quantized, pools, sums, norms, tables, plain):
        out += family(d)
    return out


def multi_head(d):
    def form(name, q, k, v, outputs=1, heads=2, tolerance=1e-4, **more):
        attrs = {'num_heads': heads, **more.pop('attrs', {})}
        keys = ['bias', 'mask', 'score_bias', 'past_key', 'past_value']
        inputs = [('q', q), ('k', k), ('v', v)] + [(n, more.pop(n, None)) for n in keys]
        elem = H if q.dtype == np.float16 else F
        constants = {n for n, v in inputs if n == 'bias' and v is not None}
        names = ['y', 'pk', 'pv', 'qk'][:outputs]
        while inputs[-1][1] is None:
            inputs.pop()
        return Form('mha_' + name, 'MultiHeadAttention', inputs, [(n, elem) for n in names], attrs, constants,
                    tolerance=tolerance, **more)

    q, k, v = d.f(2, 3, 8), d.f(2, 5, 8), d.f(2, 5, 8)
    h = np.float16
    yield_ = [
        form('plain', q, k, v),
        form('bias', q, k, v, bias=d.f(24)),
        form('value_width', q, k, d.f(2, 5, 12), bias=d.f(28)),
        form('scale', q, k, v, attrs={'scale': 0.3}),
        form('lengths', q, k, v, mask=arr(3, 5)),
        form('key_mask', q, k, v, mask=d.i(2, 5)),
        form('mask_3', q, k, v, mask=d.i(2, 3, 5)),
        form('all_masked', q, k, v, mask=np.zeros((2, 5), np.int32)),
        form('filter', q, k, v, mask=d.i(2, 5), attrs={'mask_filter_value': -3.0}),
        form('score_bias', q, k, v, score_bias=d.f(2, 2, 3, 5)),
        form('score_bias_shared', q, k, v, score_bias=d.f(1, 1, 3, 5), mask=d.i(2, 5)),
        form('causal', d.f(2, 4, 8), d.f(2, 4, 8), d.f(2, 4, 8), attrs={'unidirectional': 1}),
        form('causal_mask', d.f(2, 4, 8), d.f(2, 4, 8), d.f(2, 4, 8), mask=arr(2, 3), attrs={'unidirectional': 1}),
        form('present', q, k, v, outputs=3),
        form('past', d.f(2, 3, 8), d.f(2, 3, 8), d.f(2, 3, 8), outputs=3, past_key=d.f(2, 2, 4, 4),
             past_value=d.f(2, 2, 4, 4)),
        form('past_mask', d.f(2, 1, 8), d.f(2, 1, 8), d.f(2, 1, 8), outputs=3, past_key=d.f(2, 2, 4, 4),
             past_value=d.f(2, 2, 4, 4), mask=d.i(2, 5), bias=d.f(24)),
        form('past_causal', d.f(2, 3, 8), d.f(2, 3, 8), d.f(2, 3, 8), outputs=3, past_key=d.f(2, 2, 4, 4),
             past_value=d.f(2, 2, 4, 4), attrs={'unidirectional': 1}),
        form('cached', q, d.f(2, 2, 5, 4), d.f(2, 2, 5, 4), outputs=1),
        form('cached_bias', q, d.f(2, 2, 5, 4), d.f(2, 2, 5, 4), bias=d.f(24)),
        form('qk', q, k, v, outputs=4),
        form('qk_mask', q, k, v, outputs=4, mask=d.i(2, 5), score_bias=d.f(2, 2, 3, 5)),
        form('packed_kv', q, d.f(2, 5, 2, 2, 4), None),
        form('packed_qkv', d.f(2, 5, 2, 3, 4), None, None),
        form('half', d.f(2, 3, 8, dtype=h), d.f(2, 5, 8, dtype=h), d.f(2, 5, 8, dtype=h), mask=arr(3, 4),
             tolerance=4e-3),
        form('open', q, k, v, mask=d.i(2, 5), open_dims={'q': ['b', 's', 8], 'k': ['b', 't', 8], 'v': ['b', 't', 8],
                                                       'mask': ['b', 't']},
             shapes={'q': '1..4x1..6x8', 'k': '1..4x1..7x8', 'v': '1..4x1..7x8', 'mask': '1..4x1..7'}),
        form('open_causal', d.f(2, 3, 8), d.f(2, 3, 8), d.f(2, 3, 8), outputs=3, past_key=d.f(2, 2, 4, 4),
             past_value=d.f(2, 2, 4, 4), attrs={'unidirectional': 1},
             open_dims={'q': ['b', 's', 8], 'k': ['b', 's', 8], 'v': ['b', 's', 8], 'past_key': ['b', 2, 'p', 4],
                        'past_value': ['b', 2, 'p', 4]},
             shapes={'q': '1..4x1..6x8', 'k': '1..4x1..6x8', 'v': '1..4x1..6x8', 'past_key': '1..4x2x0..7x4',
                     'past_value': '1..4x2x0..7x4'}),
    ]
    # ONNX Runtime has no kernel for the CPU.
    for f in yield_:
        given = dict(f.inputs)
        if f.name == 'mha_packed_kv':
            packed = given['k'].transpose(3, 0, 1, 2, 4).reshape(2, 2, 5, 8)
            f.expected = {'y': attention(given['q'], *packed)}
        if f.name == 'mha_packed_qkv':
            f.expected = {'y': attention(*(given['q'].transpose(3, 0, 1, 2, 4).reshape(3, 2, 5, 8)))}
    return yield_


def attention(q, k, v, bias=0, heads=2):
    split = lambda x: x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3).astype(np.float64)
    q, k, v = split(q), split(k), split(v)
    e = np.exp(q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1]) + bias)
    y = (e / e.sum(-1, keepdims=True)) @ v
    return y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1).astype(np.float32)


def packed_attention(d):
    def form(name, x, width=24, outputs=1, tolerance=1e-4, **more):
        attrs = {'num_heads': 2, **more.pop('attrs', {})}
        h = x.dtype.type
        keys = ['mask', 'past', 'score_bias']
        inputs = [('x', x), ('w', d.f(x.shape[2], width, lo=-1, hi=1, dtype=h)),
                  ('b', more.pop('bias', d.f(width, dtype=h)))] + [(n, more.pop(n, None)) for n in keys]
        while inputs[-1][1] is None:
            inputs.pop()
        elem = H if h is np.float16 else F
        return Form('attention_' + name, 'Attention', inputs, [(n, elem) for n in ['y', 'present'][:outputs]], attrs,
                    {'w'} | {n for n, v in inputs if n == 'b' and v is not None}, tolerance=tolerance, **more)

    def reference(f):
        given = dict(f.inputs)
        q, k, v = np.split(given['x'] @ given['w'] + given.get('b', 0), 3, axis=2)
        past, n = given.get('past'), 0
        if past is not None:
            k, v = (np.concatenate([p.transpose(0, 2, 1, 3).reshape(2, -1, 8), x], 1) for p, x in zip(past, (k, v)))
            n = past.shape[3]
        bias = 0
        if given.get('mask') is not None:
            bias = np.where(given['mask'][:, :, n:n + 3, :n + 3] > 0, 0, -10000.0)
        f.expected = {'y': attention(q, k, v, bias)}
        return f

    x = d.f(2, 3, 6)
    return [
        form('plain', x), reference(form('no_bias', x, bias=None)), form('scale', x, attrs={'scale': 0.25}),
        form('widths', x, width=28, attrs={'qkv_hidden_sizes': [8, 8, 12]}),
        form('lengths', x, mask=arr(1, 3)), form('ends_starts', x, mask=arr(2, 3, 0, 1)),
        form('key_mask', x, mask=d.i(2, 3)), form('mask_3', x, mask=d.i(2, 3, 3)),
        reference(form('mask_4', x, mask=d.i(2, 1, 5, 5))), form('all_masked', x, mask=np.zeros((2, 3), np.int32)),
        form('causal', x, attrs={'unidirectional': 1}),
        form('causal_mask', x, mask=d.i(2, 3), attrs={'unidirectional': 1}),
        form('causal_lengths', x, mask=arr(0, 2), attrs={'unidirectional': 1, 'mask_filter_value': -50.0}),
        form('score_bias', x, score_bias=d.f(2, 2, 3, 3), mask=d.i(2, 3)),
        form('score_bias_one', x, score_bias=d.f(1, 2, 3, 3)),
        form('present', x, outputs=2),
        form('past', x, outputs=2, past=d.f(2, 2, 2, 4, 4)),
        form('past_mask', d.f(2, 1, 6), outputs=2, past=d.f(2, 2, 2, 4, 4), mask=d.i(2, 5)),
        form('past_causal', x, outputs=2, past=d.f(2, 2, 2, 4, 4), attrs={'unidirectional': 1}),
        reference(form('past_mask_4', x, past=d.f(2, 2, 2, 2, 4), mask=d.i(2, 1, 8, 8))),
        form('half', d.f(2, 3, 6, lo=-0.5, hi=0.5, dtype=np.float16), mask=arr([1, 0, 1], [0, 1, 1]), tolerance=2e-2),
        form('half_causal', d.f(2, 3, 6, lo=-0.5, hi=0.5, dtype=np.float16), attrs={'unidirectional': 1}, tolerance=2e-2),
        form('open', x, mask=arr(1, 3), outputs=2, attrs={'unidirectional': 1},
             open_dims={'x': ['b', 's', 6], 'mask': ['b']}, shapes={'x': '1..4x1..5x6', 'mask': '1..4'}),
    ]


def group_query(d):
    def form(name, batch=1, length=3, heads=4, kv=2, size=8, past=None, total=None, lengths=None, packed=False,
             outputs=3, tolerance=1e-4, dtype=np.float32, **more):
        total = total if total is not None else (length + (past or 0))
        lengths = np.array(lengths if lengths is not None else [total - 1] * batch, np.int32)
        attrs = {'num_heads': heads, 'kv_num_heads': kv, **more.pop('attrs', {})}
        f = lambda *s: d.f(*s, dtype=dtype)
        if packed:
            qkv = [f(batch, length, (heads + 2 * kv) * size), None, None]
        else:
            qkv = [f(batch, length, heads * size), f(batch, length, kv * size), f(batch, length, kv * size)]
        cache = [f(batch, kv, past, size) if past is not None else None for _ in range(2)]
        turned = more.pop('rotary', False)
        angles = d.f(16, size // 2, lo=0, hi=3)
        rotary = [np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)] if turned else [None] * 2
        inputs = list(zip(['q', 'k', 'v', 'past_key', 'past_value', 'lengths', 'total', 'cos', 'sin', 'positions',
                           'score_bias', 'sink'],
                          qkv + cache + [lengths, np.array([total], np.int32).reshape(more.pop('total_shape', ()))] + rotary +
                          [more.pop('positions', None), more.pop('score_bias', None), more.pop('sink', None)]))
        while inputs[-1][1] is None:
            inputs.pop()
        constants = {'total'} | {n for n, v in inputs if n in ('cos', 'sin') and v is not None}
        elem = H if dtype is np.float16 else F
        return Form('gqa_' + name, 'GroupQueryAttention', inputs, [(n, elem) for n in ['y', 'pk', 'pv'][:outputs]], attrs,
                    more.pop('constants', constants), tolerance=tolerance, **more)

    return [
        form('prompt'), form('prompt_batch', batch=2), form('prompt_packed', packed=True),
        form('same_heads', heads=2), form('scale', attrs={'scale': 0.1}),
        form('softcap', attrs={'softcap': 1.5}), form('smooth', attrs={'smooth_softmax': 1}),
        form('sink', sink=d.f(4)),
        form('rotary', attrs={'do_rotary': 1}, rotary=True, size=16),
        form('rotary_interleaved', attrs={'do_rotary': 1, 'rotary_interleaved': 1}, rotary=True, packed=True, size=16),
        form('rotary_positions', attrs={'do_rotary': 1}, rotary=True, size=16, positions=np.array([[2, 3, 4]], np.int64)),
        form('window', length=6, attrs={'local_window_size': 2}),
        form('window_past', length=1, past=6, attrs={'local_window_size': 3}),
        form('token', length=1, past=4), form('token_rotary', length=1, past=4, attrs={'do_rotary': 1}, rotary=True, size=16),
        form('token_batch', batch=2, length=1, past=4, lengths=[4, 2], total=5),
        form('token_batch_rotary', batch=2, length=1, past=4, lengths=[4, 2], total=5, attrs={'do_rotary': 1}, rotary=True, size=16),
        form('tokens', length=3, past=4), form('tokens_packed', length=3, past=4, packed=True, attrs={'do_rotary': 1},
                                             rotary=True, size=16),
        form('room', length=1, past=8, total=5, lengths=[4]),
        form('empty_past', past=0),
        form('score_bias', score_bias=d.f(1, 4, 3, 3)),
        form('score_bias_past', length=1, past=4, score_bias=d.f(1, 1, 1, 5)),
        form('half', dtype=np.float16, tolerance=5e-3), form('half_token', dtype=np.float16, length=1, past=4, tolerance=5e-3),
        form('total_one', length=1, past=4, total_shape=(1,)),
        form('one_output', outputs=1),
        form('open', length=3, open_dims={'q': ['b', 's', 32], 'k': ['b', 's', 16], 'v': ['b', 's', 16], 'lengths': ['b']},
             shapes={'q': '1..2x1..4x32', 'k': '1..2x1..4x16', 'v': '1..2x1..4x16', 'lengths': '1..2'}),
        form('runtime_total', length=1, past=4, constants=set(), bounds={'pk': '1x2x6x8', 'pv': '1x2x6x8', 'y': '1x1x32'}),
    ]


def rotary(d):
    def form(name, x, positions, rows=8, half=4, outputs=1, tolerance=1e-5, **more):
        angles = d.f(rows, half, lo=0, hi=3)
        t = x.dtype.type
        inputs = [('x', x), ('p', positions), ('c', np.cos(angles).astype(t)), ('s', np.sin(angles).astype(t))]
        return Form('rotary_' + name, 'RotaryEmbedding', inputs, [('y', H if t is np.float16 else F)], more.pop('attrs', {}),
                    {'c', 's'}, tolerance=tolerance, **more)

    p = d.i(2, 3, hi=8, dtype=np.int64)
    return [
        form('rows', d.f(2, 3, 16), p, attrs={'num_heads': 2}), form('rows_no_heads', d.f(2, 3, 16), p),
        form('heads', d.f(2, 2, 3, 8), p), form('first', d.f(2, 3, 16), arr(4, dtype=np.int64)),
        form('first_heads', d.f(2, 2, 3, 8), arr(1, dtype=np.int64)),
        form('interleaved', d.f(2, 3, 16), p, attrs={'interleaved': 1}),
        form('part', d.f(2, 3, 32), p, attrs={'num_heads': 2, 'rotary_embedding_dim': 8}),
        form('half', d.f(2, 3, 16, dtype=np.float16), p, tolerance=4e-3),
        form('open', d.f(2, 3, 16), arr(2, dtype=np.int64), open_dims={'x': ['b', 's', 16]}, shapes={'x': '1..3x1..5x16'}),
    ]


def scale_zero(scale, zero, dtype):
    return np.array(scale, np.float32), None if zero is None else np.array(zero, dtype)


def quantized(d):
    out = []
    for name, xt, wt, per in [('u8i8', np.uint8, np.int8, 0), ('u8u8', np.uint8, np.uint8, 0), ('columns', np.uint8, np.int8, 1)]:
        x = d.i(2, 3, 6, lo=0 if xt is np.uint8 else -100, hi=100, dtype=xt)
        w = d.i(6, 24, lo=0 if wt is np.uint8 else -100, hi=100, dtype=wt)
        ws = d.f(24, lo=0.001, hi=0.01) / 16 + np.float32(0.001) if per else np.array(0.01, np.float32)
        wz = d.i(24, hi=5, dtype=wt) if per else np.array(3, wt)
        for kind, mask, past, attrs in [('plain', None, None, {}), ('mask', arr(1, 3), None, {}),
                                        ('past', None, d.f(2, 2, 2, 2, 4), {'unidirectional': 1})]:
            inputs = [('x', x), ('w', w), ('b', d.f(24)), ('xs', np.array(0.02, np.float32)), ('ws', ws), ('mask', mask),
                      ('xz', np.array(7, xt)), ('wz', wz), ('past', past)]
            while inputs[-1][1] is None:
                inputs.pop()
            out.append(Form(f'qattention_{name}_{kind}', 'QAttention', inputs,
                            [('y', F)] + ([('present', F)] if past is not None else []), {'num_heads': 2, **attrs},
                            {'w', 'b', 'xs', 'ws', 'xz', 'wz'}))
    for name, t in [('u8', np.uint8), ('i8', np.int8)]:
        e = U8 if t is np.uint8 else I8
        low = 0 if t is np.uint8 else -128
        x = lambda *s: d.i(*s, lo=low, hi=low + 256, dtype=t)
        s = lambda v: np.array(v, np.float32)
        z = lambda v: np.array(v, t)
        two = [('a', x(2, 3)), ('as', s(0.1)), ('az', z(3)), ('b', x(2, 3)), ('bs', s(0.2)), ('bz', z(5)), ('ys', s(0.25))]
        fixed = {'as', 'az', 'bs', 'bz', 'ys', 'yz', 'xs', 'xz'}

        def form(kind, op, inputs, **attrs):
            names = {n for n, v in inputs if n in fixed and v is not None}
            return Form(f'{kind}_{name}', op, inputs, [('y', e)], attrs, names, tolerance=1e-9)

        def steps(*args, **attrs):
            f = form(*args, **attrs)
            f.steps = 1
            return f

        out += [
            form('qadd', 'QLinearAdd', two + [('yz', z(9))]), form('qmul', 'QLinearMul', two + [('yz', z(9))]),
            form('qadd_no_zero', 'QLinearAdd', two), form('qmul_row', 'QLinearMul', [('a', x(2, 3)), ('as', s(0.1)), ('az', z(1)),
                 ('b', x(3)), ('bs', s(0.02)), ('bz', z(2)), ('ys', s(0.25)), ('yz', z(1))]),
            form('qsigmoid', 'QLinearSigmoid', [('x', x(2, 9)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(0.004)), ('yz', z(low))]),
            form('qleaky', 'QLinearLeakyRelu', [('x', x(2, 9)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(0.06)), ('yz', z(2))],
                 alpha=0.3),
            form('qsoftmax', 'QLinearSoftmax', [('x', x(2, 3, 4)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(1 / 256)),
                 ('yz', z(low))], opset=13, axis=1),
            form('qsoftmax_old', 'QLinearSoftmax', [('x', x(2, 3, 4)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(1 / 256)),
                 ('yz', z(low))], opset=12, axis=1),
            form('qconcat', 'QLinearConcat', [('ys', s(0.1)), ('yz', z(3)), ('a', x(2, 3)), ('as', s(0.1)), ('az', z(3)),
                 ('b', x(2, 4)), ('bs', s(0.2)), ('bz', z(5))], axis=1),
            form('qwhere', 'QLinearWhere', [('c', d.i(2, 3).astype(bool)), ('a', x(2, 3)), ('as', s(0.1)), ('az', z(3)),
                 ('b', x(3)), ('bs', s(0.2)), ('bz', z(5)), ('ys', s(0.25)), ('yz', z(9))]),
            steps('qavg', 'QLinearAveragePool', [('x', x(1, 3, 5, 6)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(0.06)), ('yz', z(2))],
                 kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]),
            steps('qavg_count', 'QLinearAveragePool', [('x', x(1, 3, 5, 6)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(0.06)),
                 ('yz', z(2))], kernel_shape=[3, 2], pads=[1, 0, 1, 1], count_include_pad=1),
            steps('qavg_ceil', 'QLinearAveragePool', [('x', x(1, 3, 5, 6)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(0.06)),
                 ('yz', z(2))], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
            steps('qavg_last', 'QLinearAveragePool', [('x', x(2, 5, 6, 3)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(0.06)),
                 ('yz', z(2))], kernel_shape=[3, 2], strides=[2, 1], channels_last=1),
            steps('qglobal', 'QLinearGlobalAveragePool', [('x', x(2, 3, 4, 5)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(0.03)),
                 ('yz', z(2))]),
            steps('qglobal_last', 'QLinearGlobalAveragePool', [('x', x(2, 4, 5, 3)), ('xs', s(0.05)), ('xz', z(4)), ('ys', s(0.03)),
                 ('yz', z(2))], channels_last=1),
            form('nhwc_max', 'NhwcMaxPool', [('x', x(2, 5, 6, 3))], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]),
            form('nhwc_max_1d', 'NhwcMaxPool', [('x', x(2, 7, 3))], kernel_shape=[3], dilations=[2]),
        ]
        conv = [('x', x(1, 5, 5, 4)), ('xs', s(0.05)), ('xz', z(4)), ('a', d.i(6, 2, 3, 3, lo=-100, hi=100, dtype=np.int8)),
                ('as', s(0.01)), ('az', np.array(0, np.int8)), ('ys', s(0.1)), ('yz', z(7)), ('b', d.i(6, lo=-500, hi=500))]
        qconv = form('qconv_last', 'QLinearConv', conv, channels_last=1, group=2, pads=[1, 1, 1, 1])
        qconv.constants |= {'a', 'b'}
        out.append(qconv)
    return out


def pools(d):
    return []


def sums(d):
    h = np.float16
    return [
        Form('fused_conv', 'FusedConv', [('x', d.f(1, 2, 5, 5)), ('w', d.f(3, 2, 3, 3)), ('b', d.f(3))], [('y', F)],
             {'activation': 'Relu', 'pads': [1, 1, 1, 1]}, {'w', 'b'}),
        Form('fused_conv_sum', 'FusedConv', [('x', d.f(1, 2, 5, 5)), ('w', d.f(3, 2, 3, 3)), ('b', d.f(3)), ('z', d.f(1, 3, 3, 3))],
             [('y', F)], {'activation': 'Relu'}, {'w', 'b'}),
        Form('fused_conv_leaky', 'FusedConv', [('x', d.f(1, 2, 5, 5)), ('w', d.f(3, 2, 3, 3))], [('y', F)],
             {'activation': 'LeakyRelu', 'activation_params': [0.2]}, {'w'}),
        Form('fused_conv_clip', 'FusedConv', [('x', d.f(1, 2, 5, 5)), ('w', d.f(3, 2, 3, 3))], [('y', F)],
             {'activation': 'Clip', 'activation_params': [-1.0, 3.0]}, {'w'}),
        Form('fused_conv_hard', 'FusedConv', [('x', d.f(1, 2, 5, 5)), ('w', d.f(3, 2, 3, 3))], [('y', F)],
             {'activation': 'HardSigmoid', 'activation_params': [0.3, 0.4]}, {'w'}),
        Form('fused_gemm', 'FusedGemm', [('a', d.f(3, 4)), ('b', d.f(5, 4)), ('c', d.f(5))], [('y', F)],
             {'activation': 'LeakyRelu', 'activation_alpha': 0.1, 'transB': 1, 'alpha': 0.5, 'beta': 2.0}, {'b'}),
        Form('fused_matmul', 'FusedMatMul', [('a', d.f(2, 4, 3)), ('b', d.f(2, 5, 4))], [('y', F)],
             {'alpha': 0.5, 'transA': 1, 'transB': 1}),
        Form('fused_matmul_batch', 'FusedMatMul', [('a', d.f(3, 2, 4)), ('b', d.f(2, 4, 5))], [('y', F)], {'transBatchA': 1}),
        Form('fused_matmul_batch_b', 'FusedMatMul', [('a', d.f(2, 3, 4)), ('b', d.f(4, 2, 5))], [('y', F)], {'transBatchB': 1}),
        Form('fused_matmul_batch_t', 'FusedMatMul', [('a', d.f(4, 2, 3)), ('b', d.f(2, 4, 5))], [('y', F)],
             {'transBatchA': 1, 'transA': 1}),
        Form('transpose_matmul', 'TransposeMatMul', [('a', d.f(4, 3)), ('b', d.f(4, 5))], [('y', F)], {'transA': 1}),
        Form('gelu', 'Gelu', [('x', d.f(2, 9, lo=-5, hi=5))], [('y', F)]),
        Form('bias_gelu', 'BiasGelu', [('x', d.f(2, 9)), ('b', d.f(9))], [('y', F)]),
        Form('fast_gelu', 'FastGelu', [('x', d.f(2, 9)), ('b', d.f(9))], [('y', F)]),
        Form('fast_gelu_plain', 'FastGelu', [('x', d.f(2, 9))], [('y', F)]),
        Form('quick_gelu', 'QuickGelu', [('x', d.f(2, 9))], [('y', F)], {'alpha': 1.5}),
        Form('matmul_integer_to_float', 'MatMulIntegerToFloat', [('a', d.i(2, 3, 4, hi=255, dtype=np.uint8)),
             ('b', d.i(4, 5, lo=-100, hi=100, dtype=np.int8)), ('as', np.array(0.1, np.float32)), ('bs', d.f(5, lo=0.1, hi=1)),
             ('az', np.array(100, np.uint8)), ('bz', d.i(5, hi=9, dtype=np.int8)), ('c', d.f(5))], [('y', F)], {},
             {'as', 'bs', 'az', 'bz'}),
        Form('matmul_integer_to_float_i8', 'MatMulIntegerToFloat', [('a', d.i(3, 4, lo=-100, hi=100, dtype=np.int8)),
             ('b', d.i(4, 5, lo=-100, hi=100, dtype=np.int8)), ('as', np.array(0.1, np.float32)),
             ('bs', np.array(0.3, np.float32))], [('y', F)]),
        Form('dynamic_quantize_matmul', 'DynamicQuantizeMatMul', [('a', d.f(3, 4)), ('b', d.i(4, 5, lo=-100, hi=100, dtype=np.int8)),
             ('bs', d.f(5, lo=0.1, hi=1)), ('bz', d.i(5, hi=9, dtype=np.int8)), ('c', d.f(5))], [('y', F)], {}, {'bs', 'bz'}),
        Form('qgemm', 'QGemm', [('a', d.i(3, 4, hi=255, dtype=np.uint8)), ('as', np.array(0.1, np.float32)),
             ('az', np.array(100, np.uint8)), ('b', d.i(5, 4, lo=-100, hi=100, dtype=np.int8)), ('bs', d.f(5, lo=0.1, hi=1)),
             ('bz', d.i(5, hi=9, dtype=np.int8)), ('c', d.i(5, lo=-50, hi=50)), ('ys', np.array(2, np.float32)),
             ('yz', np.array(9, np.uint8))], [('y', U8)], {'transB': 1}, {'as', 'az', 'bs', 'bz', 'ys', 'yz'}, tolerance=1e-9),
        Form('qgemm_float', 'QGemm', [('a', d.i(3, 4, hi=255, dtype=np.uint8)), ('as', np.array(0.1, np.float32)),
             ('az', np.array(100, np.uint8)), ('b', d.i(4, 5, lo=-100, hi=100, dtype=np.int8)), ('bs', np.array(0.5, np.float32)),
             ('bz', np.array(0, np.int8)), ('c', d.i(5, lo=-50, hi=50))], [('y', F)], {'alpha': 0.5},
             {'as', 'az', 'bs', 'bz'}),
    ]
