/* ---- a timeline: lanes of events along one axis, drawn on a canvas, and what is chosen of it ---- */

const AXIS = 22, ROW = 16, LANE_GAP = 5, SERIES = 40, LEAST_LABEL = 22, PIN_ROOM = 14;

class Timeline {
    constructor(root, data) {
        this.root = root;
        this.recording = new Recording(data);
        for (const [key, selector] of Object.entries({ canvas: ".lanes", overview: ".overview", box: ".window", spacer: ".spacer",
                                                       tip: ".tip", panel: ".panel", told: ".matches" }))
            this[key] = root.querySelector(selector);
        this.from = 0;
        this.span = this.recording.length;
        this.chosen = -1;
        this.range = null;
        this.allFrames = false;
        this.matches = [];
        this.matching = null;
        this.marks = [];
        this.findings = []; /* with a place: { at, open } */
        this.compared = [];
        this.flows = true;
        this.wanted = document.getElementById("live") ? -1 : 0; /* the script of tpa view draws, once it has what to draw */
        this.layOut();
        setUpTimeline(this);
        showPanel(this);
        new ResizeObserver(() => this.draw()).observe(root);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(true));
        this.draw(true);
    }

    /* Where each row is: pinned lanes, which stay where they leave room for the others, are those of devices and marks at first. */
    layOut() {
        const { recording } = this;
        const rows = recording.layOut(this.allFrames);
        this.rows = [];
        this.titles = [];
        this.rowNumbers = new Int32Array(recording.spans.count).fill(-1);
        let y = 0;
        this.pins = [0, 0, 0]; /* where those end that the reader pinned, those of devices, all */
        const order = recording.lanes.filter((lane) => isShownLane(this, lane))
            .sort((a, b) => pinOf(b) - pinOf(a) || a.place - b.place || a.number - b.number);
        for (const lane of order) {
            this.titles.push({ lane, y });
            if (lane.bins) {
                const height = lane.open ? SERIES : ROW;
                this.rows.push({ lane, y, height, list: [] });
                y += height + LANE_GAP;
                this.endPins(lane, y);
                continue;
            }
            const count = Math.max(rows[lane.number].length, 1);
            for (let row = 0; row < count; row++) {
                const list = rows[lane.number][row] || [];
                for (const i of list)
                    this.rowNumbers[i] = this.rows.length;
                this.rows.push({ lane, y, height: ROW, list });
                y += ROW;
            }
            y += LANE_GAP;
            this.endPins(lane, y);
        }
        this.total = y;
        this.root.style.setProperty("--lanes", `${Math.max(y + AXIS + 8, 120)}px`); /* no higher than its lanes */
    }

    endPins(lane, y) {
        const pin = pinOf(lane);
        [pin > 1, pin > 1 || (pin && lane.place === 0), pin].forEach((is, k) => {
            if (is)
                this.pins[k] = y;
        });
    }

    /* Sizes are read once a frame: each reading of the page's layout costs more than many boxes. */
    measure() {
        this.wide = this.box.clientWidth;
        this.high = this.box.clientHeight;
        this.scrolled = this.box.scrollTop;
        this.gutter = Math.min(170, this.wide * 0.26);
        this.width = this.wide - this.gutter;
        /* Lanes that are pinned take as much of the window as they need, unless that is most of it. */
        this.pinnedHeight = Math.max(...this.pins.map((height) => height <= this.high * 0.62 ? height : 0));
    }

    xOf(at) {
        return this.gutter + (at - this.from) / this.span * this.width;
    }

    timeAt(x) {
        return this.from + (x - this.gutter) / this.width * this.span;
    }

    /* From the top of the canvas; rows that are not pinned scroll. */
    yOf(row) {
        return AXIS + (row.y < this.pinnedHeight ? row.y : row.y - this.scrolled);
    }

    show(from, span) {
        this.span = Math.min(this.recording.length, Math.max(20, span));
        this.from = Math.max(0, Math.min(from, this.recording.length - this.span));
        keepView(this);
        this.draw();
    }

    zoom(factor, at = this.from + this.span / 2) {
        const span = Math.min(this.recording.length, Math.max(20, this.span * factor));
        this.show(at - (at - this.from) * (span / this.span), span);
    }

    /* At the next frame, once, however often it is asked for. */
    draw(overview = false) {
        this.overviewToo = this.overviewToo || overview;
        if (this.wanted)
            return;
        this.wanted = requestAnimationFrame(() => {
            this.wanted = 0;
            this.drawNow();
        });
    }

    drawNow() {
        this.measure();
        const { wide, high } = this;
        if (wide === 0)
            return; /* not on the screen */
        const ratio = window.devicePixelRatio || 1;
        const { canvas } = this;
        if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio) || this.overviewToo) {
            canvas.style.height = `${high}px`;
            canvas.width = Math.round(wide * ratio);
            canvas.height = Math.round(high * ratio);
            this.spacer.style.height = `${Math.max(0, this.total + AXIS + 8 - high)}px`;
            this.colors = timelineColors();
            this.makeLooks();
            if (this.overviewToo)
                this.picture = null;
            this.overviewToo = false;
        }
        const pen = canvas.getContext("2d");
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.fillStyle = this.colors["--back"];
        pen.fillRect(0, 0, wide, high);
        pen.font = "11px system-ui, sans-serif";
        pen.textBaseline = "middle";
        this.drawAxis(pen, wide, high);
        const pinned = this.pinnedHeight;
        this.drawPart(pen, wide, AXIS + pinned, high, (row) => row.y >= pinned);
        if (pinned) {
            pen.fillStyle = this.colors["--faint"];
            pen.fillRect(0, AXIS + pinned - 3, wide, 1);
            this.drawPart(pen, wide, AXIS, AXIS + pinned - 3, (row) => row.y < pinned);
        }
        this.drawRange(pen, high);
        drawFlows(this, pen, wide, high);
        this.drawArrow(pen, wide, high);
        drawMarks(this, pen, high);
        drawOverview(this, ratio);
    }

    drawAxis(pen, wide, high) {
        const step = roundStep(this.span, Math.max(2, this.width / 120));
        pen.strokeStyle = this.colors["--line"];
        pen.fillStyle = this.colors["--faint"];
        pen.lineWidth = 1;
        pen.beginPath();
        for (let at = Math.ceil(this.from / step) * step; at <= this.from + this.span; at += step) {
            const x = Math.round(this.xOf(at)) + 0.5;
            pen.moveTo(x, 14);
            pen.lineTo(x, high);
            if (x + 40 < wide)
                pen.fillText(markText(Math.round(at)), x + 3, 9);
        }
        pen.stroke();
        pen.strokeStyle = this.colors["--accent"];
        pen.beginPath();
        let last = -1;
        for (const step of this.recording.steps) {
            const x = Math.round(this.xOf(step.at)) + 0.5;
            if (x < this.gutter || x > wide || x === last)
                continue;
            last = x;
            pen.moveTo(x, AXIS - 6);
            pen.lineTo(x, high);
        }
        pen.globalAlpha = 0.7;
        pen.stroke();
        pen.globalAlpha = 1;
    }

    /* The rows that BELONG, between TOP and BOTTOM. */
    drawPart(pen, wide, top, bottom, belongs) {
        const boxes = new Map(), labels = [], tiny = this.clearTiny(wide);
        pen.save();
        pen.beginPath();
        pen.rect(0, top, wide, bottom - top);
        pen.clip();
        for (const row of this.rows) {
            const y = this.yOf(row);
            if (!belongs(row) || y + row.height < top || y > bottom)
                continue;
            if (row.lane.bins)
                this.drawSeries(pen, row, y, wide);
            else
                this.collect(row, y, boxes, labels, tiny);
        }
        this.putTiny(pen, tiny);
        for (const [look, list] of boxes) {
            pen.fillStyle = this.looks[look].color;
            pen.globalAlpha = this.looks[look].alpha;
            for (let i = 0; i < list.length; i += 3)
                pen.fillRect(list[i], list[i + 1], list[i + 2], ROW - 1);
            if (!this.looks[look].pattern)
                continue;
            pen.fillStyle = this.looks[look].pattern;
            for (let i = 0; i < list.length; i += 3)
                if (list[i + 2] > 3)
                    pen.fillRect(list[i], list[i + 1], list[i + 2], ROW - 1);
        }
        pen.globalAlpha = 1;
        for (const [name, x, y, look, room] of labels) {
            const text = fittedText(pen, name, room);
            if (!text)
                continue;
            if (look.pattern) { /* stripes behind letters make them hard to read */
                pen.fillStyle = look.color;
                pen.fillRect(x - 1, y - ROW / 2 + 1, widthOf(pen, text) + 2, ROW - 3);
            }
            pen.fillStyle = look.text;
            pen.fillText(text, x, y);
        }
        this.drawTitles(pen, top, bottom, belongs);
        pen.restore();
    }

    /* Boxes of a pixel's width, of which there are very many, are pixels of a picture with a line for each row. */
    clearTiny(wide) {
        const lines = Math.ceil(this.high / ROW) + 2;
        if (!this.tiny || this.tiny.width !== wide || this.tiny.lines < lines) {
            const canvas = document.createElement("canvas");
            canvas.width = wide;
            canvas.height = lines;
            const pen = canvas.getContext("2d"), image = pen.createImageData(wide, lines);
            this.tiny = { canvas, pen, image, lines, width: wide, pixels: new Uint32Array(image.data.buffer), rows: [] };
        }
        this.tiny.pixels.fill(0);
        this.tiny.rows = [];
        return this.tiny;
    }

    putTiny(pen, tiny) {
        tiny.pen.putImageData(tiny.image, 0, 0);
        pen.imageSmoothingEnabled = false;
        tiny.rows.forEach((y, line) => pen.drawImage(tiny.canvas, 0, line, tiny.width, 1, 0, y, tiny.width, ROW - 1));
    }

    /* Boxes of a row by colour. What is narrower than a pixel shares it with its neighbours: the first is seen. */
    collect(row, y, boxes, labels, tiny) {
        const base = tiny.rows.length * tiny.width;
        if (tiny.rows.length < tiny.lines)
            tiny.rows.push(y);
        const { recording, from, gutter, wide } = this, { start, length } = recording.spans, { list } = row;
        const last = from + this.span, scale = this.width / this.span;
        for (let k = recording.firstAfter(list, from); k < list.length && start[list[k]] < last; k++) {
            const i = list[k];
            const left = Math.max(gutter + (start[i] - from) * scale, gutter);
            const right = Math.min(gutter + (start[i] + length[i] - from) * scale, wide);
            const look = this.lookOf(i);
            if (right - left < 1) {
                const pixel = Math.floor(left);
                tiny.pixels[base + pixel] = this.looks[look].pixel;
                const next = from + (pixel + 1 - gutter) / scale;
                if (k + 1 < list.length && start[list[k + 1]] < next) { /* what reaches out of the pixel is drawn */
                    const end = this.skipTo(list, k, next) - 1;
                    k = Math.max(k, start[list[end]] + length[list[end]] > next ? end - 1 : end);
                }
                continue;
            }
            let of = boxes.get(look);
            if (!of)
                boxes.set(look, of = []);
            of.push(left, y, right - left > 3 ? right - left - 0.5 : right - left);
            if (right - left > LEAST_LABEL)
                labels.push([recording.shortOf(i), left + 3, y + ROW / 2, this.looks[look], right - left - 6]);
        }
    }

    /* Colours of boxes: two looks for each kind, or for each colour where there are none: as it is, and what is not looked for. */
    makeLooks() {
        const { recording, colors } = this;
        const kinds = recording.kinds.length ? recording.kinds : chartColors.map((color) => ({ color, group: "" }));
        const stripes = stripesOf(this.canvas.getContext("2d"), colors["--back"]);
        this.looks = kinds.flatMap((kind) => {
            const color = colors[kind.color], pattern = kind.group === "idle" ? stripes : null;
            return [{ color, pattern, alpha: 1, pixel: pixelOf(color, 1), text: isDark(color) ? "#ffffff" : "#0c1116" },
                    { color, pattern, alpha: 0.25, pixel: pixelOf(color, 0.25), text: colors["--text"] }];
        });
    }

    lookOf(i) {
        const { recording } = this;
        const kind = recording.kinds.length ? recording.spans.kind[i] : chartColors.indexOf(colorOf(recording.nameOf(i)));
        return kind * 2 + (this.matching && !this.matching[i] ? 1 : 0);
    }

    /* The first behind K that begins at AT or later: by steps that double, then halve. */
    skipTo(list, k, at) {
        const { start } = this.recording.spans;
        let step = 1, low = k;
        while (low + step < list.length && start[list[low + step]] < at) {
            low += step;
            step *= 2;
        }
        let high = Math.min(low + step, list.length);
        while (low + 1 < high) {
            const middle = (low + high) >> 1;
            if (start[list[middle]] < at)
                low = middle;
            else
                high = middle;
        }
        return high;
    }

    drawSeries(pen, row, y, wide) {
        const { bins, text, changes } = row.lane;
        if (!row.lane.open)
            return;
        const most = row.lane.most || (row.lane.most = Math.max(1, ...bins));
        const each = this.recording.length / bins.length;
        pen.fillStyle = this.colors["--blue"];
        const bar = (from, to, value) => {
            const left = Math.floor(Math.max(this.xOf(from), this.gutter)), right = Math.ceil(Math.min(this.xOf(to), wide));
            if (right > left && value > 0) /* whole pixels: parts of two boxes in one would be pale */
                pen.fillRect(left, y + SERIES * (1 - value / most), right - left, SERIES * value / most);
        };
        if (changes && changes.from <= this.from && changes.to >= Math.min(this.from + this.span, this.recording.length))
            for (let k = 0; k < changes.list.length; k += 2)
                bar(changes.list[k], k + 2 < changes.list.length ? changes.list[k + 2] : changes.to, changes.list[k + 1]);
        else
            bins.forEach((value, bin) => bar(bin * each, (bin + 1) * each, value));
        const shown = text(most);
        pen.globalAlpha = 0.8;
        pen.fillStyle = this.colors["--back"];
        pen.fillRect(this.gutter + 2, y, widthOf(pen, shown) + 4, 14);
        pen.globalAlpha = 1;
        pen.fillStyle = this.colors["--text"];
        pen.fillText(shown, this.gutter + 4, y + 7);
    }

    drawTitles(pen, top, bottom, belongs) {
        const { gutter } = this, room = gutter - 36;
        pen.fillStyle = this.colors["--card"];
        pen.fillRect(0, top, gutter - 2, bottom - top);
        for (const title of this.titles) {
            const y = this.yOf(title);
            if (!belongs(title) || y + ROW < top || y > bottom)
                continue;
            const { lane } = title;
            pen.fillStyle = this.colors["--text"];
            pen.fillText(lane.open ? "\u25be" : "\u25b8", 4, y + ROW / 2);
            pen.fillText(fittedTitle(pen, titleOfLane(lane), room, lane.place === 0), 16, y + ROW / 2);
            pen.fillText(isPinned(lane) ? "\u25cf" : "\u25cb", gutter - PIN_ROOM, y + ROW / 2);
            pen.fillStyle = this.colors["--line"];
            pen.fillRect(0, y - LANE_GAP / 2 - 1, this.wide, 1);
        }
    }

    drawRange(pen, high) {
        if (!this.range)
            return;
        const left = Math.max(this.xOf(this.range[0]), this.gutter), right = Math.max(this.xOf(this.range[1]), left);
        pen.globalAlpha = 0.18;
        pen.fillStyle = this.colors["--accent"];
        pen.fillRect(left, 0, right - left, high);
        pen.globalAlpha = 1;
        pen.fillRect(left, 0, 1, high);
        pen.fillRect(right, 0, 1, high);
    }

    rowOfSpan(i) {
        return this.rows[this.rowNumbers[i]];
    }

    /* Around what is chosen a frame, and from what launched it an arrow. */
    drawArrow(pen, wide, high) {
        const { recording, chosen } = this, { spans } = recording;
        const row = chosen < 0 ? null : this.chosenRow;
        if (!row)
            return;
        pen.save();
        pen.beginPath();
        pen.rect(this.gutter, AXIS, wide, high);
        pen.clip();
        pen.strokeStyle = this.colors["--text"];
        pen.lineWidth = 2;
        const left = this.xOf(spans.start[chosen]), right = this.xOf(spans.start[chosen] + spans.length[chosen]);
        const isHidden = row.y >= this.pinnedHeight && this.yOf(row) < AXIS + this.pinnedHeight;
        if (!isHidden)
            pen.strokeRect(left, this.yOf(row), Math.max(right - left, 3), ROW - 1);
        for (const [call, work] of this.arrows) {
            const a = call.row, b = work.row;
            if (!a || !b)
                continue;
            const x0 = this.xOf(spans.start[call.i] + spans.length[call.i] / 2), y0 = this.yOf(a) + ROW / 2;
            const x1 = this.xOf(spans.start[work.i]), y1 = this.yOf(b) + ROW / 2;
            pen.lineWidth = 1.5;
            pen.beginPath();
            pen.moveTo(x0, y0);
            pen.bezierCurveTo(x0, (y0 + y1) / 2, x1 - 24, y1, x1 - 5, y1);
            pen.stroke();
            pen.beginPath();
            pen.moveTo(x1, y1);
            pen.lineTo(x1 - 7, y1 - 4);
            pen.lineTo(x1 - 7, y1 + 4);
            pen.closePath();
            pen.fillStyle = this.colors["--text"];
            pen.fill();
        }
        pen.restore();
    }

    /* ---- choosing ---- */

    /* MOVE: into sight; "zoom": so that it is seen. */
    choose(i, move = "") {
        const { recording } = this, { spans } = recording;
        this.chosen = i;
        this.arrows = [];
        this.chosenRow = null;
        if (i >= 0) {
            const lane = recording.lanes[spans.lane[i]];
            if ((spans.folded[i] && !this.allFrames) || (!lane.open && spans.depth[i] > 0)) {
                this.allFrames = this.allFrames || spans.folded[i] > 0;
                lane.open = true;
                this.layOut();
            }
            this.chosenRow = this.rowOfSpan(i);
            const pair = (call, work) => this.arrows.push([{ i: call, row: this.rowOfSpan(call) }, { i: work, row: this.rowOfSpan(work) }]);
            if (spans.call[i] >= 0)
                pair(spans.call[i], i);
            else if (lane.place === 2 && recording.kinds.length)
                recording.workOf(i).slice(0, 50).forEach((work) => pair(spans.call[work], work));
            if (move === "zoom")
                this.zoomTo(i);
            if (move)
                this.moveTo(i);
        }
        setHash(this, i >= 0 ? recording.addressOf(i) : "");
        showPanel(this);
        this.draw();
    }

    /* What an address calls by NUMBER. */
    chooseNumber(number) {
        if (number < this.recording.spans.count)
            this.choose(number, "zoom");
    }

    /* 20 times the length of event I, at most its step, at least itself. */
    zoomTo(i) {
        const { recording } = this, start = recording.spans.start[i], length = recording.spans.length[i];
        const step = recording.steps[recording.stepOf(i)];
        const first = step ? Math.min(step.at, step.host) : 0, end = step ? step.at + step.length : recording.length;
        if (length * 20 < end - first)
            this.show(start - length * 9.5, length * 20);
        else if (start >= first && start + length <= end)
            this.show(first, end - first);
        else
            this.show(start - length * 0.1, length * 1.2);
    }

    /* Into sight: in time, and where its row is scrolled away. */
    moveTo(i) {
        this.measure();
        const { start, length } = this.recording.spans;
        if (length[i] > this.span || start[i] < this.from || start[i] + length[i] > this.from + this.span)
            this.show(start[i] + length[i] / 2 - Math.max(length[i] * 3, this.span) / 2, Math.max(length[i] * 3, this.span));
        const row = this.chosenRow;
        if (!row || row.y < this.pinnedHeight)
            return;
        const y = this.yOf(row), top = AXIS + this.pinnedHeight;
        if (y < top || y + ROW > this.high)
            this.box.scrollTop += y - (top + this.high) / 2;
    }

    choseRange(from, to) {
        this.range = to > from ? [Math.max(0, from), Math.min(to, this.recording.length)] : null;
        setHash(this, this.range ? `t=${Math.round(this.range[0])},${Math.round(this.range[1] - this.range[0])}` : "");
        this.chosen = -1;
        showPanel(this);
        this.draw();
    }

    /* The event, and the time, at a point of the canvas. */
    at(x, y) {
        this.measure();
        const pinned = this.pinnedHeight;
        const under = (row) => y >= this.yOf(row) && y < this.yOf(row) + row.height &&
            (row.y < pinned || y >= AXIS + pinned);
        const found = { time: this.timeAt(x), i: -1, row: y < AXIS ? null : this.rows.find(under), lane: null };
        if (x < this.gutter) {
            found.lane = found.row ? found.row.lane : null;
            return found;
        }
        if (!found.row)
            return found;
        const { list } = found.row, { start, length } = this.recording.spans, slack = 2 * this.span / this.width;
        let best = Infinity;
        for (let k = this.recording.firstAfter(list, found.time - slack); k < list.length && start[list[k]] <= found.time + slack; k++) {
            const off = Math.max(start[list[k]] - found.time, found.time - start[list[k]] - length[list[k]], 0);
            if (off < best) {
                best = off;
                found.i = list[k];
            }
        }
        return found;
    }

    search(text) {
        const { recording } = this, words = text.toLowerCase().split(/\s+/).filter(Boolean);
        this.matching = null;
        this.matches = [];
        if (words.length) {
            const fits = recording.names.map((name) => words.every((word) => name.toLowerCase().includes(word)));
            this.takeMatches((i) => fits[recording.spans.name[i]]);
        }
        this.told.textContent = words.length ? this.foundText() : "";
        this.searched = text;
        keepView(this);
        this.draw();
    }

    foundText() {
        const left = this.recording.data.left_out;
        return `${this.matches.length.toLocaleString("en")} found${left ? `; ${left.toLocaleString("en")} events are not on this page` : ""}`;
    }

    /* What FITS is looked for; pieces of the critical path are coloured so, but are no events of their own. */
    takeMatches(fits) {
        const { spans, lanes } = this.recording;
        this.matching = new Uint8Array(spans.count);
        for (let i = 0; i < spans.count; i++)
            if (fits(i)) {
                this.matching[i] = 1;
                if (lanes[spans.lane[i]].place !== 1)
                    this.matches.push(i);
            }
        this.matches.sort((a, b) => spans.start[a] - spans.start[b]);
    }

    /* The next match in direction SIGN, from the one that is chosen or from where one looks. */
    nextMatch(sign) {
        if (!this.matches.length)
            return;
        const { start } = this.recording.spans;
        let k = this.matches.indexOf(this.chosen);
        if (k < 0) {
            k = this.matches.findIndex((i) => start[i] >= this.from);
            k = (k < 0 ? 0 : k) - (sign > 0 ? 1 : 0);
        }
        k = (k + sign + this.matches.length) % this.matches.length;
        this.choose(this.matches[k], "move");
        this.told.textContent = `${k + 1} of ${this.matches.length}`;
    }

    sumsOfName(i) {
        return sumsOfName(this, i);
    }

    showRange(panel, range) {
        showRange(this, panel, range);
    }

    openStep(k) {
        const step = this.recording.steps[k];
        if (!step)
            return;
        this.step = k;
        const first = Math.min(step.at, step.host), length = step.at + step.length - first;
        this.show(first - length * 0.02, length * 1.04);
        this.choseRange(step.at, step.at + step.length);
        const select = this.root.querySelector("select[id^=step]");
        if (select) {
            this.listSteps();
            select.value = String(k);
        }
    }
}
