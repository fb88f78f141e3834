"use strict";

/* ---- the timeline of tpa view: what is in sight comes from the server, as spans and as sums per step of time ---- */

const token = new URLSearchParams(location.search).get("token");

async function ask(question, values, signal) {
    const answer = await fetch(`/api/1/${question}?${new URLSearchParams({ ...values, token })}`, { signal });
    const data = await answer.json();
    if (!answer.ok)
        throw new Error([data.error.message, data.error.hint].filter(Boolean).join("; "));
    return data;
}

/* Words, all of which are in a name, as a regular expression; /.../ is one. */
function patternOf(text) {
    const own = text.match(/^\/(.+)\/$/);
    if (own)
        return own[1];
    const words = text.split(/\s+/).filter(Boolean);
    return words.length ? `(?si)^${words.map((word) => `(?=.*${word.replace(/[^\w]/g, (c) => c < "\x80" ? `\\${c}` : c)})`).join("")}` : "";
}

/* The same for names that are here. */
function testOf(text) {
    const own = text.match(/^\/(.+)\/$/), words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!own)
        return (name) => words.every((word) => name.toLowerCase().includes(word));
    try {
        const regex = new RegExp(own[1].replace(/^\(\?i\)/, ""), own[1].startsWith("(?i)") ? "i" : "");
        return (name) => regex.test(name);
    } catch {
        return () => false; /* the server's expressions know more */
    }
}

class LiveView {
    /* TILE, of all lanes, may be null. */
    constructor(view, { info, tile }) {
        this.view = view;
        this.recording = view.recording;
        this.info = info;
        this.tile = null;
        this.kept = new Map(); /* events that are chosen or related, whatever is in sight: by their numbers */
        this.nameNumbers = new Map();
        this.recording.names = [];
        this.recording.data.short = [];
        this.recording.data.details = [""];
        this.fits = null;
        this.used = 0;
        this.override();
        this.tileLanes = new Set(tile ? info.lanes.map(({ lane }) => lane) : []);
        this.take(tile || { from_ns: 0, to_ns: 0, step_ns: 1, rows: [], series: [], names: {}, complete: true });
        if (!info.complete)
            this.waitForAll();
    }

    /* ---- what differs from a page that has its events ---- */

    override() {
        const { view, recording } = this, plain = Timeline.prototype;
        view.allFrames = true;
        view.root.querySelector("[data-do=frames]").hidden = true;
        recording.layOut = () => this.layOut();
        recording.addressOf = (i) => `e=${this.eventOf[i]}`;
        recording.workOf = (i) => this.workOf(i);
        view.drawNow = () => {
            plain.drawNow.call(view);
            if (!this.isDrawn && view.width && this.hasAll(this.sight())) {
                this.isDrawn = true;
                requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("picture"))); /* for measurements */
            }
            this.look();
        };
        view.collect = (row, y, boxes, labels, tiny) => {
            const line = tiny.rows.length;
            plain.collect.call(view, row, y, boxes, labels, tiny);
            if (row.list.sums && line < tiny.lines)
                this.paintSums(row.list.sums, line * tiny.width, tiny);
        };
        view.choose = (i, move) => {
            plain.choose.call(view, i, move);
            if (i >= 0 && this.eventOf[i] >= 0)
                this.explain(this.eventOf[i]);
        };
        view.chooseNumber = (number) => this.goTo(number);
        view.sumsOfName = () => "";
        view.showRange = (panel, range) => this.showRange(panel, range);
        view.search = (text) => this.search(text);
        view.nextMatch = (sign) => this.nextMatch(sign);
    }

    /* As many rows for each lane as it has anywhere, so that lanes stay where they are. */
    layOut() {
        return this.recording.lanes.map((lane, number) => {
            const of = this.info.lanes[number], lists = this.lists.get(number) || [];
            return lane.bins || !of ? [] : Array.from({ length: lane.open ? Math.max(of.depth, 1) : 1 }, (_, depth) => lists[depth] || []);
        });
    }

    /* ---- tiles ---- */

    /* What is in sight, and how long a pixel is. */
    sight() {
        const { view } = this;
        return { from: view.from, to: view.from + view.span, pixel: view.span / Math.max(view.width || 1, 1) };
    }

    lanesInSight() {
        const { view } = this, lanes = new Set();
        for (const row of view.rows) {
            const y = view.yOf(row);
            if (!row.lane.bins && (row.y < view.pinnedHeight || (y + row.height > -view.high && y < 2 * view.high)))
                lanes.add(row.lane.number);
        }
        return lanes;
    }

    hasAll({ from, to, pixel }) {
        const { tile } = this;
        return !this.isStale && tile.from_ns <= Math.floor(from) && tile.to_ns >= Math.min(Math.ceil(to), this.recording.length) &&
            (!tile.complete || tile.step_ns === 1 || (tile.step_ns <= pixel * 1.01 && tile.step_ns * 4.5 > pixel)) &&
            [...this.lanesInSight()].every((lane) => this.tileLanes.has(lane));
    }

    /* Ask for what is in sight and as much around it, unless it is here. One question at a time. */
    async look() {
        const { view } = this, sight = this.sight();
        if (this.asking || !view.width || this.hasAll(sight))
            return;
        this.asking = true;
        const span = sight.to - sight.from, from = Math.max(0, Math.floor(sight.from - span / 2));
        const to = Math.min(this.recording.length, Math.ceil(sight.to + span / 2)), lanes = this.lanesInSight();
        try {
            const px = Math.max(1, Math.min(16384, Math.ceil((to - from) / sight.pixel)));
            const tile = await ask("tile", { from, to, px, lanes: [...lanes].join(",") || "0" });
            this.tileLanes = lanes;
            this.isStale = false;
            if (tile.complete !== this.info.complete) {
                location.reload(); /* its lanes are others */
                return;
            }
            this.take(tile);
            this.failed = "";
        } catch (error) {
            this.failed = String(error.message || error);
            view.told.textContent = `The server does not answer: ${this.failed}`;
            await new Promise((done) => setTimeout(done, 1000));
        }
        this.asking = false;
        view.draw();
    }

    /* Until the server has put all spans in order, it sends an outline, in which there is more each time; then the page loads again. */
    async waitForAll() {
        const { view } = this;
        let seen = -1;
        for (let info = this.info; !info.complete; info = await ask("info", {}).catch(() => info)) {
            const part = Math.floor(info.events_in_sight / info.events * 100);
            view.told.textContent = part < 100 ? `Not complete yet: this is an outline of ${part} % of the events` : "Not complete yet: this is an outline, and the spans are being put in order";
            await new Promise((done) => setTimeout(done, 300));
            this.isStale = seen < part;
            seen = part;
            view.draw();
        }
        location.reload();
    }

    nameNumber(id, [full, short]) {
        if (!this.nameNumbers.has(id)) {
            this.nameNumbers.set(id, this.recording.names.length);
            this.recording.names.push(full);
            this.recording.data.short.push(short === full ? "" : short);
        }
        return this.nameNumbers.get(id);
    }

    /* TILE becomes the spans of the recording. */
    take(tile) {
        const { recording, view } = this, chosen = view.chosen >= 0 ? this.eventOf[view.chosen] : -1;
        const count = tile.rows.reduce((sum, row) => sum + row.spans.length / 6, 0), room = count + this.kept.size;
        const spans = {
            count: 0, start: new Float64Array(room), length: new Float64Array(room), kind: new Uint8Array(room), folded: new Uint8Array(room),
            inner: new Uint16Array(room), name: new Uint32Array(room), detail: new Uint32Array(room), call: new Int32Array(room).fill(-1),
            correlation: new Float64Array(room), lane: new Uint32Array(room), depth: new Uint16Array(room), rows: new Map(),
        };
        const calls = new Float64Array(room).fill(-1), numbers = new Map();
        this.eventOf = new Float64Array(room).fill(-1);
        this.indexOf = new Map();
        this.lists = new Map();
        this.tile = tile;
        for (const [id, name] of Object.entries(tile.names))
            numbers.set(Number(id), this.nameNumber(`n${id}`, name));
        for (const row of tile.rows) {
            const first = spans.count, list = [];
            for (let k = 0; k < row.spans.length; k += 6) {
                const i = spans.count++, event = row.spans[k + 4];
                spans.start[i] = row.spans[k];
                spans.length[i] = row.spans[k + 1];
                spans.kind[i] = row.spans[k + 2];
                spans.name[i] = event < 0 ? this.nameOfKind(spans.kind[i]) : numbers.get(row.spans[k + 3]);
                spans.lane[i] = row.lane;
                spans.depth[i] = row.depth;
                this.eventOf[i] = event;
                calls[i] = row.spans[k + 5];
                if (event >= 0)
                    this.indexOf.set(event, i);
                list.push(i);
            }
            spans.rows.set(row.lane * 4096 + row.depth, [first, spans.count]);
            list.sums = row.sums;
            this.listsOf(row.lane)[row.depth] = list;
        }
        for (const lane of recording.lanes.filter(({ series }) => tile.series[series]))
            lane.changes = { from: tile.from_ns, to: tile.to_ns, list: tile.series[lane.series] };
        for (const event of this.kept.values())
            this.keepSpan(spans, event);
        for (let i = 0; i < spans.count; i++)
            spans.call[i] = this.indexOf.has(calls[i]) ? this.indexOf.get(calls[i]) : -1;
        recording.spans = spans;
        view.chosen = chosen >= 0 && this.indexOf.has(chosen) ? this.indexOf.get(chosen) : -1;
        if (view.chosen >= 0)
            spans.detail[view.chosen] = this.detail || 0;
        this.markMatches();
        view.layOut();
        view.chosenRow = view.chosen < 0 ? null : view.rowOfSpan(view.chosen);
        view.arrows = (view.arrows || []).length && view.chosen >= 0 ? this.arrowsOf(view.chosen) : [];
        this.renewLegend();
    }

    listsOf(lane) {
        if (!this.lists.has(lane))
            this.lists.set(lane, []);
        return this.lists.get(lane);
    }

    /* "idle: host", or a part of the critical path. */
    nameOfKind(kind) {
        const { title, group } = this.recording.kinds[kind], name = `${group}: ${title}`;
        return this.nameNumber(`k${kind}`, [name, name]);
    }

    /* Add EVENT, which an answer of the server names, to SPANS, unless it is there. */
    keepSpan(spans, event) {
        if (this.indexOf.has(event.id) || event.lane === undefined)
            return;
        const i = spans.count++, list = this.listsOf(event.lane)[event.depth] || (this.listsOf(event.lane)[event.depth] = []);
        spans.start[i] = event.start_ns;
        spans.length[i] = event.dur_ns;
        spans.kind[i] = event.kind;
        spans.name[i] = this.nameNumber(`e${event.name}`, [event.name, event.short]);
        spans.lane[i] = event.lane;
        spans.depth[i] = event.depth;
        this.eventOf[i] = event.id;
        this.indexOf.set(event.id, i);
        let place = list.length;
        while (place > 0 && spans.start[list[place - 1]] > spans.start[i])
            place--;
        list.splice(place, 0, i);
    }

    workOf(i) {
        const { spans } = this.recording, end = spans.start[i] + spans.length[i], found = [];
        for (let k = 0; k < spans.count; k++) {
            const call = spans.call[k];
            if (call >= 0 && this.recording.isWork(k) && spans.lane[call] === spans.lane[i] && spans.start[call] >= spans.start[i] &&
                spans.start[call] + spans.length[call] <= end)
                found.push(k);
        }
        return found;
    }

    arrowsOf(i) {
        const { view, recording } = this, { spans } = recording, pair = (call, work) => [{ i: call, row: view.rowOfSpan(call) }, { i: work, row: view.rowOfSpan(work) }];
        return spans.call[i] >= 0 ? [pair(spans.call[i], i)] : recording.lanes[spans.lane[i]].place === 2 ? this.workOf(i).slice(0, 50).map((work) => pair(spans.call[work], work)) : [];
    }

    renewLegend() {
        const used = new Set(this.recording.spans.kind.subarray(0, this.recording.spans.count));
        for (const row of this.tile.rows)
            for (let k = 1; k < row.sums.length; k += 3)
                used.add(row.sums[k]);
        for (const kind of used)
            this.known = (this.known || new Set()).add(kind);
        if (!this.known || this.known.size === this.used)
            return;
        this.used = this.known.size;
        this.view.root.querySelector(".legend").replaceChildren();
        addLegend({ root: this.view.root, recording: { ...this.recording, kinds: this.recording.kinds, strips: this.recording.strips, spans: { kind: [...this.known] } } });
    }

    /* ---- sums: a pixel is as strong as it is busy, in the colour of what took most of it ---- */

    paintSums(sums, base, tiny) {
        const { view, tile } = this, LEVELS = 8, scale = view.width / view.span;
        if (!this.busy || this.busy.length !== tiny.width) {
            this.busy = new Float64Array(tiny.width);
            this.most = new Float64Array(tiny.width);
            this.look1 = new Int16Array(tiny.width);
        }
        if (this.levelsOf !== view.looks) {
            this.levelsOf = view.looks;
            this.levels = view.looks.map(({ color }) => Array.from({ length: LEVELS }, (_, k) => pixelOf(color, 0.25 + 0.75 * (k + 1) / LEVELS)));
        }
        const { busy, most, look1 } = this;
        busy.fill(0);
        most.fill(0);
        for (let k = 0; k < sums.length; k += 3) {
            const at = tile.from_ns + sums[k] * tile.step_ns, left = view.gutter + (at - view.from) * scale, right = left + tile.step_ns * scale;
            if (right <= view.gutter || left >= tiny.width)
                continue;
            const first = Math.max(Math.floor(left), Math.ceil(view.gutter)), end = Math.min(Math.max(Math.ceil(right), first + 1), tiny.width);
            for (let x = first; x < end; x++) {
                const ns = sums[k + 2] * Math.max(0, Math.min(right, x + 1) - Math.max(left, x)) / (right - left);
                busy[x] += ns;
                if (ns > most[x]) {
                    most[x] = ns;
                    look1[x] = sums[k + 1] * 2;
                }
            }
        }
        const whole = 1 / scale;
        for (let x = Math.max(0, Math.floor(view.gutter)); x < tiny.width; x++)
            if (busy[x] > 0 && tiny.pixels[base + x] === 0)
                tiny.pixels[base + x] = this.levels[look1[x]][Math.max(0, Math.min(LEVELS - 1, Math.ceil(busy[x] / whole * LEVELS) - 1))];
    }

    /* ---- events ---- */

    /* Show the event of this number, wherever it is. */
    async goTo(id) {
        try {
            const event = await ask("event", { id });
            if (event.lane === undefined) {
                this.view.told.textContent = `${event.short} is at ${timeText(event.start_ns)}, and has no length`;
                return;
            }
            this.kept = new Map([[event.id, event]]);
            this.take(this.tile);
            this.recording.lanes[event.lane].open = this.recording.lanes[event.lane].open || event.depth > 0;
            this.view.layOut();
            this.view.choose(this.indexOf.get(event.id), "zoom");
        } catch (error) {
            this.view.told.textContent = String(error.message || error);
        }
    }

    /* What the server knows of the chosen event. */
    async explain(id) {
        const event = await ask("event", { id }).catch(() => null), { view, recording } = this;
        if (!event || view.chosen < 0 || this.eventOf[view.chosen] !== id)
            return;
        const lines = Object.entries(event.args).map(([key, value]) => `${key}: ${value}`);
        if (event.operator)
            lines.push(`Operator: ${event.operator.name}`);
        recording.data.details[1] = lines.join("\n");
        this.detail = 1;
        this.kept = new Map([event, event.call, event.operator, ...event.launched.slice(0, 50)].filter((of) => of && of.lane !== undefined).map((of) => [of.id, of]));
        this.take(this.tile);
        const i = this.indexOf.get(id);
        if (event.call && this.indexOf.has(event.call.id))
            recording.spans.call[i] = this.indexOf.get(event.call.id);
        for (const of of event.launched)
            if (this.indexOf.has(of.id) && recording.spans.call[this.indexOf.get(of.id)] < 0)
                recording.spans.call[this.indexOf.get(of.id)] = i;
        view.arrows = this.arrowsOf(i);
        showPanel(view);
        if (this.stretch) {
            const back = element("button", "Back to the stretch");
            back.type = "button";
            back.addEventListener("click", () => {
                const [from, to] = this.stretch;
                view.show(from - (to - from) * 0.1, (to - from) * 1.2);
                view.choseRange(from, to);
            });
            view.panel.firstElementChild.append(element("p", "", [back]));
        }
        view.draw();
    }

    /* ---- search ---- */

    search(text) {
        const { view } = this, pattern = patternOf(text);
        view.searched = text;
        view.matches = [];
        this.fits = pattern ? testOf(text) : null;
        this.markMatches();
        view.draw();
        keepView(view);
        clearTimeout(this.searching);
        view.told.textContent = "";
        if (pattern)
            this.searching = setTimeout(async () => {
                try {
                    const { count } = await ask("find", { re: pattern, n: 1 });
                    if (view.searched === text)
                        view.told.textContent = `${count.toLocaleString("en")} found`;
                } catch (error) {
                    view.told.textContent = String(error.message || error);
                }
            }, 200);
    }

    markMatches() {
        const { view, recording } = this, { spans } = recording;
        if (!this.fits) {
            view.matching = null;
            return;
        }
        const fits = recording.names.map((name) => this.fits(name));
        view.matching = Uint8Array.from(spans.name.subarray(0, spans.count), (name) => fits[name] ? 1 : 0);
    }

    /* The next of all events that match in direction SIGN, from the chosen one or where one looks. */
    async nextMatch(sign) {
        const { view } = this, pattern = patternOf(view.searched || "");
        if (!pattern)
            return;
        const event = view.chosen >= 0 ? this.eventOf[view.chosen] : -1;
        const at = Math.max(0, Math.floor(event >= 0 ? this.recording.spans.start[view.chosen] : view.from)), from = event >= 0 ? { id: event } : {};
        try {
            let found = await ask("find", { re: pattern, n: 1, ...from, [sign > 0 ? "after" : "before"]: at });
            let number = sign > 0 ? found.before + 1 : found.before;
            if (!found.places.length && found.count) { /* round the end */
                found = await ask("find", { re: pattern, n: 1, ...(sign > 0 ? {} : { before: this.recording.length + 1 }) });
                number = sign > 0 ? 1 : found.count;
            }
            if (!found.places.length)
                return;
            await this.goTo(found.places[0].id);
            view.told.textContent = `${number.toLocaleString("en")} of ${found.count.toLocaleString("en")}`;
        } catch (error) {
            view.told.textContent = String(error.message || error);
        }
    }

    /* ---- a stretch ---- */

    /* The sides that have something of the stretch, each with the stretch as it counts it. */
    sidesOf(from, to) {
        return this.info.sides.map((side) => ({ ...side, from: Math.max(0, from - side.origin_ns), to: to - side.origin_ns })).filter((side) => side.to > 0);
    }

    /* A line to copy. */
    commandLine(name, side) {
        const text = `tpa ${name} --range ${side.from}ns..${side.to}ns ${side.files}${{ convert: " -o slice.json.gz", report: " -o slice.html" }[name] || ""}`;
        const copy = element("button", "Copy");
        copy.type = "button";
        copy.addEventListener("click", async () => {
            await navigator.clipboard.writeText(text);
            copy.textContent = "Copied";
        });
        return element("div", "", [element("code", text), " ", copy]);
    }

    /* Every command that takes a stretch: its line for each side, and, where it is a function of SQL, its first table. */
    commandsOf(from, to) {
        const sides = this.sidesOf(from, to), box = element("details", "", [element("summary", "This stretch in every command")]);
        box.className = "commands";
        for (const { command, help, function: isFunction } of this.info.commands) {
            const lines = sides.map((side) => this.commandLine(command, side)), out = element("div"), show = element("button", "Show");
            show.type = "button";
            show.addEventListener("click", async () => {
                try {
                    const made = command === "summary" ? [this.listOfFindings((await ask("findings", { from, to })).findings.map((of) => this.atEvent(of)))] : [];
                    for (const side of isFunction ? sides : []) {
                        const answer = await ask("sql", { q: `select * from ${command}('--range ${side.from}ns..${side.to}ns ${side.options}')` });
                        made.push(this.table(`${command} ${side.label}`, answer.tables[0]));
                    }
                    out.replaceChildren(...made);
                } catch (error) {
                    out.replaceChildren(element("p", String(error.message || error)));
                }
            });
            box.append(element("div", "", [element("p", "", [element("b", command), `: ${help} `, ...(isFunction || (command === "summary" && this.info.sides.length === 1) ? [show] : [])]), ...lines, out]));
        }
        return box;
    }

    /* Sums come from the server: they are of all events, as the commands have them. */
    showRange(panel, range) {
        const [from, to] = range.map(Math.round), figures = element("div"), tables = element("div");
        figures.className = "columns-of-panel";
        panel.append(element("h4", `${stepTitle(this.view, from, to)}${timeText(to - from)} from ${timeText(from)} on`), figures, tables, this.commandsOf(from, to));
        this.stretch = [from, to];
        clearTimeout(this.summing);
        this.summing = setTimeout(() => this.fillRange(figures, tables, from, to), 250);
    }

    async fillRange(figures, tables, from, to) {
        try {
            const sums = await ask("sum", { from, to });
            for (const device of sums.devices) {
                const own = sums.idle.filter((row) => row.rank === device.rank && row.device === device.device);
                const { group } = this.recording.files.find((file) => file.rank === device.rank) || {};
                figures.append(element("div", "", [element("h4", `${group ? `${group}, ` : ""}device ${device.device}`), listOf([
                    ["Span of the work launched", timeText(device.span_ns)], ["Busy", share(device.busy_ns, device.span_ns)],
                    ["Computing", share(device.computation_ns, device.span_ns)], ["Communication, exposed", share(device.exposed_communication_ns, device.span_ns)],
                    ["Copies, exposed", share(device.exposed_memcpy_ns, device.span_ns)], ["Idle", share(device.idle_ns || 0, device.span_ns)],
                    ...own.map((row) => [`Idle: ${row.cause}`, share(row.time_ns, device.span_ns)])])]));
            }
            const within = this.sidesOf(from, to).map((side) => `${side.options.replace(/^--rank (.*)$/, "rank in ($1) and ")}at_ns >= ${side.from} and at_ns < ${side.to}`).join(" or ");
            const file = this.info.sides.length > 1 ? `case rank ${this.recording.files.map(({ rank, group }) => `when ${rank} then '${group}'`).join(" ")} end as run, ` : this.info.files.length > 1 ? "rank, " : "";
            for (const [title, table, columns, group, time] of [
                ["Kernels that began in it", "kernels", `name, ${file}device, stream`, "name, rank, device, stream", "dur_ns"],
                ["Operators that began in it", "operators", `name, ${file}coalesce(thread, tid) as on_thread`, "name, rank, thread, tid", "dur_ns"],
                ["Threads, by the operators that began in it, without those that these called", "operators", `coalesce(thread, tid) as thread, ${file.replace(/, $/, "") || "tid"}`, "rank, thread, tid", "self_ns"]]) {
                const answer = await ask("sql", { n: 500, q: `select ${columns}, count(*) as count, sum(${time}) as time_ns, max(${time}) as longest_ns, id from ${table} where ${within} group by ${group} order by time_ns desc` });
                if (answer.tables[0].rows.length)
                    tables.append(this.table(title, answer.tables[0]));
            }
        } catch (error) {
            tables.append(element("p", String(error.message || error)));
        }
    }

    /* Rows of an answer to SQL, sorted by the heading that is clicked on. A row with the number of an event leads to it. */
    table(title, { columns, rows }) {
        const MOST = 200, body = element("tbody"), shown = columns.filter(({ key }) => key !== "id"), hasId = shown.length < columns.length;
        const isText = (key) => rows.some((row) => typeof row[key] === "string");
        const text = (value, key) => value === null ? "-" : /_ns$/.test(key) ? timeText(value) : typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 6 }) : String(value);
        let sorted = null, sign = 1;
        const heads = shown.map(({ key }) => {
            const button = element("button", key.replace(/_ns$/, "").replace(/_/g, " "));
            button.type = "button";
            button.addEventListener("click", () => {
                [sorted, sign] = [key, key === sorted ? -sign : isText(key) ? 1 : -1];
                fill();
            });
            return element("th", "", [button]);
        });
        const fill = () => {
            const order = sorted === null ? rows : [...rows].sort((a, b) => sign * (a[sorted] < b[sorted] ? -1 : a[sorted] > b[sorted] ? 1 : 0));
            body.replaceChildren(...order.slice(0, MOST).map((row) => element("tr", "", shown.map(({ key }, k) => {
                const cell = element("td", k || !hasId ? text(row[key], key) : "");
                if (!k && hasId) {
                    const button = element("button", text(row[key], key));
                    button.type = "button";
                    button.addEventListener("click", () => this.goTo(row.id));
                    cell.append(button);
                }
                cell.className = isText(key) ? "" : "n";
                return cell;
            }))));
        };
        fill();
        return element("table", "", [element("caption", rows.length > MOST ? `${title}: the first ${MOST} of ${rows.length}` : title), element("thead", "", [element("tr", "", heads)]), body]);
    }

    /* ---- findings: a list, and flags on the axis ---- */

    addFindings() {
        const MOST = 4e6, box = element("details", "", [element("summary", "What to change")]), list = element("ol"), look = element("button", "Look for findings");
        box.className = "found";
        look.type = "button";
        look.addEventListener("click", () => this.fillFindings(list, look));
        box.append(element("p", "", [look]), list);
        this.view.root.append(box);
        if (this.info.sides.length === 1 && this.info.events <= MOST)
            this.fillFindings(list, look).then(() => { box.open = this.view.findings.length > 0; });
    }

    async fillFindings(list, look) {
        const { view } = this;
        look.disabled = true;
        look.textContent = "Looking \u2026";
        try {
            const { findings } = await ask("findings", {});
            view.findings = findings.map((finding) => this.placedFinding(finding));
            list.replaceWith(this.listOfFindings(view.findings));
            look.parentElement.textContent = findings.length ? "" : this.info.sides.length > 1 ? "Of separate runs, tpa diff says what changed." : "No rule found anything.";
            view.draw();
        } catch (error) {
            look.parentElement.textContent = String(error.message || error);
        }
    }

    listOfFindings(findings) {
        return element("ol", "", findings.map((finding) => {
            const button = element("button", finding.action);
            button.type = "button";
            button.disabled = finding.at === undefined;
            button.addEventListener("click", () => finding.open());
            return element("li", "", [button, ` ${[finding.saves, finding.where].filter(Boolean).join("; ")} `, element("code", finding.command ? `${finding.command} ${this.info.sides[0].files}` : "")]);
        }));
    }

    /* FINDING with its longest event, if it names one. */
    atEvent(finding) {
        return finding.event === undefined ? finding : { ...finding, at: finding.start_ns, open: () => this.goTo(finding.event) };
    }

    /* FINDING with the moment where it is, if it is anywhere: the longest idle time of its cause, or its longest event. */
    placedFinding(finding) {
        const { view, recording } = this, rank = finding.rank < 0 ? "" : String(finding.rank);
        const stretch = (finding.place || "").startsWith("idle: ") ? stretchOf(recording, finding.place.slice(6), rank, "") : pauseIn(recording, finding.where || "");
        const [from, length] = (stretch.match(/^#t=(\d+),(\d+)$/) || []).slice(1).map(Number);
        if (from !== undefined)
            return { ...finding, at: from, open: () => {
                view.show(from - length * 0.1, length * 1.2);
                view.choseRange(from, from + length);
            } };
        return this.atEvent(finding);
    }

    /* ---- SQL ---- */

    addQuery() {
        const box = element("details", "", [element("summary", "SQL")]), text = element("textarea"), run = element("button", "Run"), stop = element("button", "Stop"), out = element("div");
        run.type = stop.type = "button";
        stop.hidden = true;
        text.rows = 3;
        text.setAttribute("aria-label", "A statement of SQL");
        text.value = "select name, count(*) as count, sum(dur_ns) as time_ns, id from kernels group by name order by time_ns desc limit 20";
        out.setAttribute("role", "status");
        run.addEventListener("click", async () => {
            run.disabled = true;
            stop.hidden = false;
            try {
                const answer = await ask("sql", { q: text.value });
                out.replaceChildren(...answer.tables.map((table) => this.table(`${table.rows.length.toLocaleString("en")} rows`, table)));
            } catch (error) {
                out.replaceChildren(element("p", String(error.message || error)));
            }
            run.disabled = false;
            stop.hidden = true;
        });
        stop.addEventListener("click", () => ask("stop", {}));
        out.className = "panel";
        box.className = "query";
        box.append(element("p", "", [text]), element("p", "", [run, " ", stop]), out);
        this.view.root.append(box);
    }
}

const live = new LiveView(timelines[0], JSON.parse(document.getElementById("live").textContent));
if (live.info.complete) {
    live.addFindings();
    live.addQuery();
}
followHash();
live.view.wanted = 0;
live.view.draw(true);
