/* ---- the timeline: events in rows of lanes along one axis of time. report/page_timeline.c writes what is read here ---- */

const chartColors = ["--blue", "--orange", "--green", "--vermilion", "--sky", "--purple", "--olive", "--grey", "--pale", "--azure", "--brown", "--indigo", "--coffee"];

function timelineColors() {
    const style = getComputedStyle(document.documentElement);
    const colors = themeColors();
    for (const name of chartColors)
        colors[name] = style.getPropertyValue(name).trim();
    return colors;
}

/* "#rrggbb" as a pixel of ImageData. */
function pixelOf(color, alpha) {
    const bytes = new Uint8Array([1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)).concat(Math.round(alpha * 255)));
    return new Uint32Array(bytes.buffer)[0];
}

function bytesOf(base64) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        bytes[i] = text.charCodeAt(i);
    return bytes;
}

/* Numbers of 7 bits a byte; they may be larger than what bitwise operators hold. */
class Numbers {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }

    next() {
        let value = 0, factor = 1, byte;
        do {
            byte = this.bytes[this.at++];
            value += (byte & 127) * factor;
            factor *= 128;
        } while (byte > 127);
        return value;
    }

    signed() {
        const value = this.next();
        return value % 2 ? -(value - 1) / 2 - 1 : value / 2;
    }
}

function readSpans(data) {
    let count = 0;
    for (let i = 2; i < data.rows.length; i += 3)
        count += data.rows[i];
    const spans = {
        count, start: new Float64Array(count), length: new Float64Array(count), kind: new Uint8Array(count),
        folded: new Uint8Array(count), inner: new Uint16Array(count), name: new Uint32Array(count),
        detail: new Uint32Array(count), call: new Int32Array(count), correlation: new Float64Array(count),
        lane: new Uint32Array(count), depth: new Uint16Array(count), rows: new Map(),
    };
    const from = new Numbers(bytesOf(data.spans));
    let i = 0, correlation = 0;
    for (let row = 0; row < data.rows.length; row += 3) {
        const [lane, depth, size] = data.rows.slice(row, row + 3);
        let at = 0;
        spans.rows.set(lane * 4096 + depth, [i, i + size]);
        for (const end = i + size; i < end; i++) {
            at += from.next();
            spans.start[i] = at;
            spans.length[i] = from.next();
            const kind = from.next();
            spans.kind[i] = kind >> 1;
            spans.folded[i] = kind & 1;
            spans.inner[i] = from.next();
            spans.name[i] = from.next();
            spans.detail[i] = from.next();
            spans.call[i] = from.next() - 1;
            correlation += from.signed();
            spans.correlation[i] = correlation;
            spans.lane[i] = lane;
            spans.depth[i] = depth;
        }
    }
    return spans;
}

/* What lines of code had in use from a time on, drawn or not; ascending. */
function readUses(data) {
    const from = new Numbers(bytesOf(data.uses)), uses = [];
    for (let at = 0; from.at < from.bytes.length;) {
        at += from.next() * data.every;
        uses.push({ at, line: from.next(), bytes: from.signed(), blocks: from.signed() });
    }
    return uses;
}

/* A counter in thousandths. */
function counterText(value) {
    return (value / 1000).toLocaleString("en", { maximumFractionDigits: 3 });
}

/* CHANGES of a figure, each a bin and its value from there on, as a value for each of BINS. */
function stairsOf(changes, bins) {
    const all = new Array(bins).fill(0);
    for (let k = 0; k < changes.length; k += 2)
        all.fill(changes[k + 1], changes[k]);
    return all;
}

/* The events and lanes of a page's data, whatever of them is shown. */
class Recording {
    constructor(data) {
        this.data = data;
        this.length = Math.max(data.length, 1);
        this.names = data.names;
        this.kinds = [];
        for (let i = 0; i < data.kinds.length; i += 3)
            this.kinds.push({ title: data.kinds[i], group: data.kinds[i + 1], color: chartColors[data.kinds[i + 2]] });
        this.lanes = [];
        for (let i = 0; i < data.lanes.length; i += 5)
            this.lanes.push({ title: data.lanes[i], group: data.lanes[i + 1], place: data.lanes[i + 2], strip: data.lanes[i + 3],
                              open: !data.lanes[i + 4], bins: null });
        this.steps = [];
        for (let i = 0; i < data.steps.length; i += 6) /* the host begins a step earlier than the devices */
            this.steps.push({ number: data.steps[i], at: data.steps[i + 1], length: data.steps[i + 2], host: data.steps[i + 3],
                              hostEnd: data.steps[i + 4], file: data.steps[i + 5] });
        this.files = [];
        for (let i = 0; i < data.files.length; i += 4)
            this.files.push({ rank: data.files[i], at: data.files[i + 1], name: data.files[i + 2], group: data.files[i + 3] });
        this.strips = [];
        for (let i = 0; i < data.strips.length; i += 3)
            this.strips.push({ title: data.strips[i], kinds: data.strips[i + 1], shares: bytesOf(data.strips[i + 2]) });
        this.spans = readSpans(data);
        this.uses = data.alive ? readUses(data) : [];
        for (let i = 0; i < data.series.length; i += 3)
            if (data.series[i + 1] === -1)
                this.lanes.push({ title: data.series[i], group: "", place: 1, open: true, series: i / 3, bins: stairsOf(data.series[i + 2], data.bins), text: bytesText, bytes: true });
            else if (data.series[i + 1] === -2)
                this.lanes.push({ title: data.series[i], group: "", place: 1, open: true, pinned: false, series: i / 3, bins: stairsOf(data.series[i + 2], data.bins), text: counterText });
        addDeviceSeries(this);
        this.lanes.forEach((lane, number) => {
            lane.number = number;
            lane.pinnedAtFirst = isPinned(lane);
        });
        this.kernelsOf = null;
    }

    /* What was in use at a time, by line, the most bytes first. Lines have bytes or blocks. */
    inUse(at) {
        const lines = this.data.lines.map((name) => ({ name, bytes: 0, blocks: 0 }));
        for (const use of this.uses) {
            if (use.at > at)
                break;
            lines[use.line].bytes += use.bytes;
            lines[use.line].blocks += use.blocks;
        }
        return lines.filter((line) => line.blocks).sort((a, b) => b.bytes - a.bytes);
    }

    nameOf(i) {
        return this.names[this.spans.name[i]];
    }

    /* As tables show it: of work of devices short. */
    shortOf(i) {
        return this.data.short[this.spans.name[i]] || this.nameOf(i);
    }

    /* The place of the first of the ascending FROM..END that ends after AT. */
    firstAfter(list, at) {
        const { start, length } = this.spans;
        let low = 0, high = list.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (start[list[middle]] + length[list[middle]] > at)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }

    /* What is around event I on its thread, the outermost first. */
    callersOf(i) {
        const { spans } = this;
        const found = [];
        for (let depth = 0; depth < spans.depth[i]; depth++) {
            const row = spans.rows.get(spans.lane[i] * 4096 + depth);
            if (!row)
                continue;
            let [low, high] = row;
            while (low < high) { /* the last that begins no later */
                const middle = (low + high) >> 1;
                if (spans.start[middle] <= spans.start[i])
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low > row[0] && spans.start[low - 1] + spans.length[low - 1] >= spans.start[i] + spans.length[i])
                found.push(low - 1);
        }
        return found;
    }

    /* Is LANE of FILE? Lanes of a single file have no group. */
    isOfFile(lane, file) {
        return !lane.group || !this.files[file] || lane.group === this.files[file].group;
    }

    /* The step whose range on the host holds event I, or of work the call that launched it; -1: none. */
    stepOf(i) {
        const { spans } = this, of = spans.call[i] >= 0 ? spans.call[i] : i;
        const lane = this.lanes[spans.lane[of]], from = spans.start[of], to = from + spans.length[of];
        return this.steps.findIndex((step) => this.isOfFile(lane, step.file) && (lane.place === 2
            ? from >= step.host && to <= step.hostEnd : from >= step.at && from < step.at + step.length));
    }

    addressOf(i) {
        return `e=${i}`;
    }

    isWork(i) {
        return this.kinds.length > 0 && this.kinds[this.spans.kind[i]].group === "device";
    }

    /* The work that was launched within event I of a thread, itself included. */
    workOf(i) {
        const { spans } = this;
        if (!this.kernelsOf) {
            this.kernelsOf = [];
            for (let k = 0; k < spans.count; k++)
                if (spans.call[k] >= 0 && this.isWork(k))
                    this.kernelsOf.push(k);
        }
        const end = spans.start[i] + spans.length[i];
        return this.kernelsOf.filter((k) => {
            const call = spans.call[k];
            return spans.lane[call] === spans.lane[i] && spans.start[call] >= spans.start[i] &&
                spans.start[call] + spans.length[call] <= end;
        });
    }

    /* Rows of the lanes as they are open, from the top: what each shows, ascending. */
    layOut(allFrames) {
        const { spans, lanes } = this;
        const rows = lanes.map(() => []);
        for (let i = 0; i < spans.count; i++) {
            const lane = lanes[spans.lane[i]];
            if (spans.folded[i] && !allFrames)
                continue;
            const row = allFrames ? spans.depth[i] : spans.depth[i] - spans.inner[i];
            if (row > 0 && !lane.open)
                continue;
            (rows[lane.number][row] = rows[lane.number][row] || []).push(i);
        }
        for (const lane of rows)
            for (const row of lane)
                if (row)
                    this.sortRow(row);
        if (this.data.alive)
            this.sortRows(rows);
        return rows;
    }

    /* Rows with the largest blocks come first, wherever they were put when there was room. */
    sortRows(rows) {
        for (const lane of rows)
            lane.sort((a, b) => Math.max(...b.map((i) => this.bytesOf(i))) - Math.max(...a.map((i) => this.bytesOf(i))));
    }

    /* "Bytes: 512" of an event's details. */
    bytesOf(i) {
        return Number((this.data.details[this.spans.detail[i]].match(/Bytes: (\d+)/) || [0, 0])[1]);
    }

    sortRow(row) {
        const { start } = this.spans;
        for (let i = 1; i < row.length; i++)
            if (start[row[i]] < start[row[i - 1]]) {
                row.sort((a, b) => start[a] - start[b]);
                return;
            }
    }

    /* What ran on the device of STRIP from FROM to TO: time of each kind, without what overlaps. */
    sumUp(strip, from, to) {
        const { spans, lanes, kinds } = this;
        const sums = { busy: 0, idle: new Map() };
        const pieces = [];
        for (let i = 0; i < spans.count; i++) {
            const lane = lanes[spans.lane[i]];
            if (lane.place !== 0 || lane.strip !== strip)
                continue;
            const start = Math.max(spans.start[i], from), end = Math.min(spans.start[i] + spans.length[i], to);
            if (end <= start)
                continue;
            if (kinds[spans.kind[i]].group === "idle") {
                const title = kinds[spans.kind[i]].title;
                sums.idle.set(title, (sums.idle.get(title) || 0) + end - start);
                continue;
            }
            pieces.push([start, end]);
        }
        pieces.sort((a, b) => a[0] - b[0]);
        let last = from;
        for (const [start, end] of pieces) {
            sums.busy += Math.max(0, end - Math.max(start, last));
            last = Math.max(last, end);
        }
        return sums;
    }
}
