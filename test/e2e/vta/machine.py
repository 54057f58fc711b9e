"""VTA as documented, for region files of docs/vta.md: a parser, a machine whose three units run in random order, and a checker.

Refused is what not every implementation does (fsim, HLS, Chisel), and what depends on luck: a token too few or too many, two
accesses of an element that no token orders. Memories begin with random contents.
"""

import struct

import numpy as np

LOAD, STORE, GEMM, FINISH, ALU = range(5)
UOP, WGT, INP, ACC, OUT = range(5)
BYTES = (4, 256, 16, 64, 16)
DEPTH = (2048, 1024, 2048, 2048, 2048)
PREV = {0: None, 1: 0, 2: 1}
NEXT = {0: 1, 1: 2, 2: None}
TOKENS = {"pop_prev": 3, "pop_next": 4, "push_prev": 5, "push_next": 6}
MOVE = {"memory": (7, 3), "sram": (10, 16), "dram": (26, 32), "unused": (58, 6), "y": (64, 16), "x": (80, 16), "stride": (96, 16), "pads": (112, 16)}
LOOP = {"reset": (7, 1), "uop": (8, 13), "end": (21, 14), "outer": (35, 14), "inner": (49, 14), "unused": (63, 1), "dst_outer": (64, 11),
        "dst_inner": (75, 11), "src_outer": (86, 11), "src_inner": (97, 11)}
PRODUCT = {"wgt_outer": (108, 10), "wgt_inner": (118, 10)}
SCALAR = {"alu": (108, 3), "use_imm": (111, 1), "imm": (112, 16)}


class Refused(Exception):
    pass


def need(holds, what):
    if not holds:
        raise Refused(what)


class Instruction:
    def __init__(self, raw):
        bits = int.from_bytes(raw, "little")
        self.opcode = bits & 7
        fields = {name: (at, 1) for name, at in TOKENS.items()}
        if self.opcode in (LOAD, STORE):
            fields |= MOVE
        elif self.opcode in (GEMM, ALU):
            fields |= LOOP | (PRODUCT if self.opcode == GEMM else SCALAR)
        else:
            need(self.opcode == FINISH, f"opcode {self.opcode}")
            need(bits >> 7 == 0, "FINISH has no fields")
        for name, (at, width) in fields.items():
            setattr(self, name, bits >> at & ((1 << width) - 1))
        self.unit = 1
        if self.opcode == STORE:
            self.unit = 2
        elif self.opcode == LOAD and self.memory in (INP, WGT):
            self.unit = 0


class Program:
    """The bytes of a region: `mrvl` is a file of OUT, whose own header is taken off."""

    def __init__(self, mrvl):
        if mrvl[:4] == b"MRVP":
            (header,) = struct.unpack_from("<I", mrvl, 8)
            (count,) = struct.unpack_from("<Q", mrvl, 60)
            self.cycles, = struct.unpack_from("<Q", mrvl, 52)
            mrvl = mrvl[len(mrvl) - count:]
        self.raw = bytearray(mrvl)
        magic, version, header = struct.unpack_from("<4sII", mrvl)
        need((magic, version, header) == (b"MVTA", 1, 48), "header")
        need(mrvl[12:21] == bytes([3, 3, 5, 0, 4, 15, 15, 18, 17]), "configuration")
        count, sections, inputs, outputs, self.memory_bytes = struct.unpack_from("<4IQ", mrvl, 24)
        at = 48
        self.sections = [struct.unpack_from("<IIQQ", mrvl, at + 24 * i) for i in range(sections)]
        need([s[0] for s in self.sections] == [0, 1, 2, 3] + [4] * (sections - 4), "kinds of sections")
        at += 24 * sections
        ports = [struct.unpack_from("<6I", mrvl, at + 24 * i) for i in range(inputs + outputs)]
        self.inputs, self.outputs = ports[:inputs], ports[inputs:]
        at += 24 * len(ports)
        self.section_of = struct.unpack_from(f"<{count}H", mrvl, at)
        at = -(-(at + 2 * count) // 16) * 16
        self.code_at = at
        end = 0
        for _, _, offset, size in self.sections:
            need(offset % 4096 == 0 and offset >= end, "sections are pages that do not overlap")
            end = offset + size
        need(end <= self.memory_bytes, "memory")
        need(self.sections[0][3] == 16 * count, "number of instructions")
        self.memory = bytearray(self.memory_bytes)
        for _, _, offset, size in self.sections[:4]:
            self.memory[offset:offset + size] = mrvl[at:at + size]
            at = -(-(at + size) // 16) * 16
        self.count = count

    def instructions(self):
        return [Instruction(self.raw[self.code_at + 16 * i:self.code_at + 16 * i + 16]) for i in range(self.count)]

    def changed(self, index, at, width, value):
        """A copy with other bits in an instruction."""
        raw = bytearray(self.raw)
        place = slice(self.code_at + 16 * index, self.code_at + 16 * index + 16)
        bits = int.from_bytes(raw[place], "little") & ~(((1 << width) - 1) << at)
        raw[place] = (bits | value << at).to_bytes(16, "little")
        return Program(bytes(raw))


def static_check(i):
    """What can be seen of an instruction alone."""
    for name in TOKENS:
        side = PREV[i.unit] if name.endswith("prev") else NEXT[i.unit]
        need(not getattr(i, name) or side is not None, f"{name} of unit {i.unit}")
    if i.opcode in (LOAD, STORE):
        need(i.unused == 0 and i.pads == 0, "unused bits, pads")
        need(i.memory in ((OUT,) if i.opcode == STORE else (UOP, WGT, INP, ACC)), f"memory {i.memory}")
        if i.x == 0:
            return need(i.opcode == LOAD and i.memory == UOP and i.y == i.sram == i.dram == 0, "a LOAD of nothing")
        need(i.y >= 1 and (i.y == 1 or i.memory not in (UOP, WGT)), "rows")
        need(i.sram + i.x * i.y <= DEPTH[i.memory], "beyond the memory on chip")
    elif i.opcode in (GEMM, ALU):
        need(i.unused == 0 and i.uop < i.end <= DEPTH[UOP] and i.outer >= 1 and i.inner >= 1, "loops")
        if i.opcode == ALU:
            need(not i.reset and i.alu <= 3, f"operation {i.alu}")
            need(i.use_imm or (i.imm == 0 and i.alu != 3), "an operand with an immediate, or as a shift")
            need(i.alu != 3 or -16 <= signed(i.imm) <= 15, "shift")


def signed(imm):
    return imm - 65536 if imm >= 32768 else imm


class Machine:
    """Values, and for each element who wrote and read it when: clocks are instructions of a unit, and tokens carry what is known."""

    def __init__(self, program, seed=0):
        self.p, self.rng = program, np.random.default_rng(seed)
        self.dram = self.rng.integers(-128, 128, program.memory_bytes).astype(np.int8)
        for _, _, offset, size in program.sections[:4]:
            self.dram[offset:offset + size] = np.frombuffer(program.memory, np.int8, size, offset)
        self.uop = self.rng.integers(0, 2**32, DEPTH[UOP], dtype=np.uint32)
        self.inp = self.rng.integers(-128, 128, (DEPTH[INP], 16)).astype(np.int8)
        self.wgt = self.rng.integers(-128, 128, (DEPTH[WGT], 16, 16)).astype(np.int8)
        self.acc = self.rng.integers(-2**31, 2**31, (DEPTH[ACC], 16)).astype(np.int32)
        self.out = self.rng.integers(-128, 128, (DEPTH[OUT], 16)).astype(np.int8)
        self.out_by_alu = np.zeros(DEPTH[OUT], bool)
        sizes = {UOP: DEPTH[UOP], WGT: DEPTH[WGT], INP: DEPTH[INP], ACC: DEPTH[ACC], OUT: DEPTH[OUT], "dram": program.memory_bytes // 16}
        self.written = {m: np.zeros((3, n), np.int64) for m, n in sizes.items()}
        self.read = {m: np.zeros((3, n), np.int64) for m, n in sizes.items()}
        self.clock = np.zeros((3, 3), np.int64)  # what a unit knows of each
        self.steps = {"products": 0, "reset": 0, "alu": 0}

    def section(self, port):
        _, _, offset, size = self.p.sections[port[0]]
        return self.dram[offset:offset + size]

    def block(self, port, array):
        section, last, n, c, h, w = port
        image = array.reshape(n, h * w, c).transpose(0, 2, 1) if last else array.reshape(n, c, h * w)
        padded = np.zeros((n, -(-c // 16) * 16, h * w), np.int8)
        padded[:, :c] = image
        if c % 16:  # what is behind the last channel does not matter
            padded[:, c:] = self.rng.integers(-128, 128, padded[:, c:].shape)
        self.section(port)[:] = padded.reshape(n, -1, 16, h * w).transpose(0, 1, 3, 2).reshape(-1)

    def unblock(self, port, shape):
        section, last, n, c, h, w = port
        image = self.section(port).reshape(n, -1, h * w, 16).transpose(0, 1, 3, 2).reshape(n, -1, h * w)[:, :c]
        return (image.transpose(0, 2, 1) if last else image).reshape(shape)

    def touch(self, unit, memory, elements, write):
        """Accesses of a unit's present instruction: whatever another unit did to these elements has to be known to it."""
        for other in range(3):
            if other == unit:
                continue
            late = self.written[memory][other, elements].max(initial=0)
            if write:
                late = max(late, self.read[memory][other, elements].max(initial=0))
            need(late <= self.clock[unit, other], f"unit {unit} and {other} meet in memory {memory}, and no token orders them")
        (self.written if write else self.read)[memory][unit, elements] = self.clock[unit, unit]

    def run(self):
        code = self.p.instructions()
        need(code and code[-1].opcode == FINISH and sum(i.opcode == FINISH for i in code) == 1, "one FINISH, at the end")
        for i in code:
            static_check(i)
        self.stream_order(code)
        queues = [[k for k, i in enumerate(code) if i.unit == unit] for unit in range(3)]
        at = [0, 0, 0]
        tokens = {(a, b): [] for a in range(3) for b in range(3)}
        while True:
            ready = [u for u in range(3) if at[u] < len(queues[u]) and self.ready(code[queues[u][at[u]]], tokens)]
            if not ready:
                break
            unit = ready[self.rng.integers(len(ready))]
            # Some units run ahead as far as they can, so that a missing token shows.
            for _ in range(int(self.rng.choice([1, 4, 100]))):
                if at[unit] == len(queues[unit]) or not self.ready(code[queues[unit][at[unit]]], tokens):
                    break
                self.step(queues[unit][at[unit]], code[queues[unit][at[unit]]], tokens)
                at[unit] += 1
        for unit in range(3):
            need(at[unit] == len(queues[unit]), f"unit {unit} waits for ever at {queues[unit][at[unit]:][:1]}")
        need(not any(tokens.values()), "tokens are left over")
        need(all(self.clock[1, u] == self.clock[u, u] for u in range(3)), "FINISH does not wait for all")

    @staticmethod
    def stream_order(code):
        """Fetched in order, no full command queue keeps back what somebody waits for: pushes stand in front of their pops. And
        no counter of 8 bits is full."""
        tokens = {}
        for k, i in enumerate(code):
            for name, side in (("prev", PREV[i.unit]), ("next", NEXT[i.unit])):
                if getattr(i, f"pop_{name}"):
                    tokens[side, i.unit] = tokens.get((side, i.unit), 0) - 1
                    need(tokens[side, i.unit] >= 0, f"instruction {k} pops what is pushed behind it")
            for name, side in (("prev", PREV[i.unit]), ("next", NEXT[i.unit])):
                if getattr(i, f"push_{name}"):
                    tokens[i.unit, side] = tokens.get((i.unit, side), 0) + 1
                    need(tokens[i.unit, side] <= 255, "more than 255 tokens")

    @staticmethod
    def ready(i, tokens):
        return (not i.pop_prev or tokens[PREV[i.unit], i.unit]) and (not i.pop_next or tokens[NEXT[i.unit], i.unit])

    def step(self, number, i, tokens):
        unit = i.unit
        self.clock[unit, unit] += 1
        for pop, side in ((i.pop_prev, PREV[unit]), (i.pop_next, NEXT[unit])):
            if pop:
                self.clock[unit] = np.maximum(self.clock[unit], tokens[side, unit].pop(0))
        if i.opcode in (LOAD, STORE):
            self.move(number, i)
        elif i.opcode in (GEMM, ALU):
            self.loop(i)
        for push, side in ((i.push_prev, PREV[unit]), (i.push_next, NEXT[unit])):
            if push:
                tokens[unit, side].append(self.clock[unit].copy())

    def move(self, number, i):
        if i.x == 0:
            return
        size = BYTES[i.memory]
        elements = (i.dram + i.stride * np.arange(i.y)[:, None] + np.arange(i.x)).reshape(-1)
        _, _, offset, length = self.p.sections[self.p.section_of[number]]
        need(elements.min() * size >= offset and (elements.max() + 1) * size <= offset + length, "beyond the section of the instruction")
        need(self.p.section_of[number] == {UOP: 1, WGT: 2, ACC: 3}.get(i.memory, max(self.p.section_of[number], 4)), "another section")
        places = (elements[:, None] * size + np.arange(size))
        granules = np.unique(places.reshape(-1) // 16)
        sram = slice(i.sram, i.sram + i.x * i.y)
        self.touch(i.unit, "dram", granules, i.opcode == STORE)
        self.touch(i.unit, i.memory, np.arange(sram.start, sram.stop), i.opcode == LOAD)
        if i.opcode == STORE:
            need(self.out_by_alu[sram].all(), "OUT that no ALU pass has written")
            need(len(np.unique(elements)) == len(elements), "an element of DRAM twice")
            self.dram[places] = self.out[sram]
            return
        data = self.dram[places]
        if i.memory == UOP:
            self.uop[sram] = data.copy().view(np.uint32).reshape(-1)
        elif i.memory == INP:
            self.inp[sram] = data
        elif i.memory == WGT:
            self.wgt[sram] = data.reshape(-1, 16, 16)
        else:
            self.acc[sram] = data.copy().view(np.int32)

    def loop(self, i):
        uops = self.uop[i.uop:i.end].astype(np.int64)
        self.touch(1, UOP, np.arange(i.uop, i.end), False)
        y, x = np.arange(i.outer)[:, None, None], np.arange(i.inner)[None, :, None]
        dst = (uops & 2047) + y * i.dst_outer + x * i.dst_inner
        src = (uops >> 11 & 2047) + y * i.src_outer + x * i.src_inner
        wgt = (uops >> 22) + (y * i.wgt_outer + x * i.wgt_inner if i.opcode == GEMM else 0 * (x + y))
        need(dst.max() < DEPTH[ACC] and src.max() < DEPTH[INP] and wgt.max() < DEPTH[WGT], "an index beyond its memory")
        flat = dst.reshape(-1)
        need((flat[1:] != flat[:-1]).all() and (flat[2:] != flat[:-2]).all(), "an accumulator again within two steps")
        self.touch(1, ACC, flat, True)
        self.touch(1, OUT, flat, True)
        if i.opcode == GEMM:
            return self.products(i, dst, src, wgt)
        self.alu(i, dst, src)

    def products(self, i, dst, src, wgt):
        if i.reset:
            self.acc[dst] = 0
            self.out_by_alu[dst] = False
            self.steps["reset"] += dst.size
            return
        self.touch(1, INP, src.reshape(-1), False)
        self.touch(1, WGT, np.unique(wgt), False)
        self.steps["products"] += dst.size
        with np.errstate(over="ignore"):
            for number in np.unique(wgt):
                at = wgt == number
                sums = self.inp[src[at]].astype(np.int32) @ self.wgt[number].astype(np.int32).T
                np.add.at(self.acc, dst[at], sums)
        self.out_by_alu[dst] = False

    def alu(self, i, dst, src):
        self.steps["alu"] += dst.size
        flat, other = dst.reshape(-1), src.reshape(-1)
        need(len(np.unique(flat)) == len(flat), "an accumulator twice in a pass")
        if not i.use_imm:
            self.touch(1, ACC, other, False)
            need((other[1:] != flat[:-1]).all(), "reads the accumulator of the step before")
            need(not np.isin(other, flat).any(), "a source that the pass writes")
        a = self.acc[flat]
        b = np.int32(signed(i.imm)) if i.use_imm else self.acc[other]
        with np.errstate(over="ignore"):
            if i.alu == 3:
                made = a >> b if b >= 0 else (a.view(np.uint32) << np.uint32(-b)).view(np.int32)
            else:
                made = (np.minimum, np.maximum, np.add)[i.alu](a, b)
        self.acc[flat] = made
        self.out[flat] = made.astype(np.uint32).astype(np.uint8).view(np.int8)
        self.out_by_alu[flat] = True


def execute(program, arrays, shapes, seed=0):
    """Outputs for inputs, in the order of the ports, and the machine."""
    machine = Machine(program, seed)
    for port, array in zip(program.inputs, arrays, strict=True):
        machine.block(port, array)
    machine.run()
    return [machine.unblock(port, shape) for port, shape in zip(program.outputs, shapes, strict=True)], machine
