/* ---- the panel of a stretch of time: what devices did in it, and a table of all that ran ---- */

function share(part, whole) {
    return `${timeText(Math.round(part))} (${(100 * part / Math.max(whole, 1)).toFixed(1)} %)`;
}

/* All that ran from FROM to TO, of lanes that are shown, by name and by where: the most time first. */
function slicesOf(view, from, to) {
    const { recording } = view, { spans, lanes } = recording, groups = new Map();
    for (let i = 0; i < spans.count; i++) {
        const lane = lanes[spans.lane[i]], time = Math.min(spans.start[i] + spans.length[i], to) - Math.max(spans.start[i], from);
        if (time <= 0 || lane.place === 1 || !isShownLane(view, lane))
            continue;
        const key = `${spans.lane[i]} ${spans.name[i]}`, of = groups.get(key) || { lane, time: 0, count: 0, longest: 0, example: i };
        of.time += time;
        of.count++;
        if (spans.length[i] > of.longest) {
            of.longest = spans.length[i];
            of.example = i;
        }
        groups.set(key, of);
    }
    return [...groups.values()].map((of) => ({ ...of, mean: of.time / of.count, name: recording.shortOf(of.example), where: titleOfLane(of.lane) }))
        .sort((a, b) => b.time - a.time);
}

/* A table of SLICES, sorted by the heading that is clicked on. */
function sliceTable(view, slices) {
    const MOST = 100, body = element("tbody"), columns = [["name", "Name"], ["where", "On"], ["count", "Count"], ["time", "Time"], ["mean", "Mean"], ["longest", "Longest"]];
    const text = (of, key) => key === "count" ? of.count.toLocaleString("en") : timeText(Math.round(of[key]));
    let [sorted, sign] = ["time", -1];
    const heads = columns.map(([key, title]) => {
        const button = element("button", title), head = element("th", "", [button]);
        button.type = "button";
        button.addEventListener("click", () => {
            [sorted, sign] = [key, key === sorted ? -sign : typeof slices[0][key] === "string" ? 1 : -1];
            fill();
        });
        return head;
    });
    function fill() {
        const order = [...slices].sort((a, b) => sign * (a[sorted] < b[sorted] ? -1 : a[sorted] > b[sorted] ? 1 : 0));
        heads.forEach((head, k) => head.setAttribute("aria-sort", columns[k][0] !== sorted ? "none" : sign > 0 ? "ascending" : "descending"));
        body.replaceChildren(...order.slice(0, MOST).map((of) => element("tr", "", columns.map(([key]) => {
            if (key === "name")
                return element("td", "", [...lineOf(view, of.example, of.name).childNodes]);
            const cell = element("td", key === "where" ? of.where : text(of, key));
            cell.className = key === "where" ? key : "n";
            return cell;
        }))));
    }
    fill();
    const caption = element("caption", slices.length > MOST ? `All that ran in it: the first ${MOST} of ${slices.length.toLocaleString("en")} rows` : "All that ran in it");
    return element("table", "", [caption, element("thead", "", [element("tr", "", heads)]), body]);
}

/* "Step 6 of rank 0: " where the stretch is a step. */
function stepTitle(view, from, to) {
    const { steps, files } = view.recording, step = steps.find((of) => of.at === from && of.at + of.length === to);
    return step ? `Step ${step.number}${files.length > 1 ? ` of ${files[step.file].group}` : ""}: ` : "";
}

function showRange(view, panel, [from, to]) {
    const { recording } = view, length = to - from, figures = element("div");
    figures.className = "columns-of-panel";
    panel.append(element("h4", `${stepTitle(view, from, to)}${timeText(Math.round(length))} from ${timeText(Math.round(from))} on`), figures);
    recording.strips.forEach((strip, k) => {
        if (!recording.lanes.some((lane) => lane.place === 0 && lane.strip === k && isShownLane(view, lane)))
            return;
        const sums = recording.sumUp(k, from, to);
        const idle = [...sums.idle].sort((a, b) => b[1] - a[1]);
        const rest = length - sums.busy - idle.reduce((sum, [, time]) => sum + time, 0);
        figures.append(element("div", "", [element("h4", strip.title), listOf([["Busy", share(sums.busy, length)],
            ...idle.map(([title, time]) => [`Idle: ${title}`, share(time, length)]),
            ...(rest > length * 0.0005 ? [["Not on this page", share(rest, length)]] : [])])]));
    });
    const slices = slicesOf(view, from, to);
    if (slices.length)
        panel.append(sliceTable(view, slices));
    addRows(view, panel, placeOf(Math.round(from), Math.round(length)));
    if (recording.data.command) {
        const origin = recording.files.length ? recording.files[0].at : 0;
        panel.append(element("p", "All its events, for Perfetto:"),
                     element("code", `${recording.data.command} ${Math.round(from - origin)}ns..${Math.round(to - origin)}ns -o slice.json.gz`));
    }
}
