/* ---- what a reader sets in a timeline: marks, pinned lanes, the ranks that are compared ---- */

/* Lanes of devices and marks are pinned unless the reader, or what made them, wants it otherwise. */
function isPinned(lane) {
    return lane.pinned === undefined ? lane.place < 2 : lane.pinned;
}

/* The reader's own come first, and stay where there is no room for the others. */
function pinOf(lane) {
    return isPinned(lane) ? lane.pinned ? 2 : 1 : 0;
}

function isShownLane(view, lane) {
    const groups = view.recording.files.filter((file) => view.compared.includes(String(file.rank))).map((file) => file.group);
    return !groups.length || (lane.group ? groups.includes(lane.group) : groups.some((group) => lane.title.startsWith(`${group},`)));
}

function layOutAgain(view) {
    view.layOut();
    view.chosenRow = view.chosen < 0 ? null : view.rowOfSpan(view.chosen);
    keepView(view);
    view.draw(true);
}

function togglePin(view, lane) {
    lane.pinned = !isPinned(lane);
    layOutAgain(view);
}

/* Only the lanes of RANKS, below each other; all if there are none. */
function compareRanks(view, ranks) {
    view.compared = ranks.filter((rank) => view.recording.files.some((file) => String(file.rank) === rank));
    view.rankSelects.forEach((select, k) => { select.value = view.compared[k] || ""; });
    layOutAgain(view);
}

/* A mark at time AT, or none where there is one. */
function toggleMark(view, at = view.pointed === undefined ? view.from + view.span / 2 : view.pointed) {
    const near = 4 * view.span / view.width, left = view.marks.filter((mark) => Math.abs(mark - at) > near);
    view.marks = left.length < view.marks.length ? left : [...left, Math.round(at)].sort((a, b) => a - b);
    keepView(view);
    showPanel(view);
    view.draw();
}

/* A flag with TEXT, no further left than LEAST, on a pole down to HIGH; where it is: [left, right], or null where it is out of sight. */
function drawFlag(view, pen, at, text, color, high, least = 0) {
    const x = Math.round(view.xOf(at)) + 0.5, wide = widthOf(pen, text) + 6, left = Math.max(x, least);
    if (x < view.gutter || x > view.wide)
        return null;
    pen.fillStyle = pen.strokeStyle = view.colors[color];
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x, high);
    pen.stroke();
    pen.fillRect(left, 0, wide, 13);
    pen.fillStyle = isDark(view.colors[color]) ? "#ffffff" : "#0c1116";
    pen.fillText(text, left + 3, 7);
    return [left, left + wide];
}

/* Findings have flags on the axis, which lead to them, those at one place beside each other. */
function drawMarks(view, pen, high) {
    let least = 0;
    view.findings.forEach((finding) => { finding.flag = null; });
    for (const finding of view.findings.filter(({ at }) => at !== undefined).sort((a, b) => a.at - b.at)) {
        finding.flag = drawFlag(view, pen, finding.at, `finding ${view.findings.indexOf(finding) + 1}`, "--vermilion", AXIS, least);
        least = finding.flag ? finding.flag[1] + 1 : least;
    }
    view.marks.forEach((mark, k) => drawFlag(view, pen, mark, String(k + 1), "--text", high));
}

/* In PANEL each mark, and how long it is to the next. */
function showMarks(view, panel) {
    if (!view.marks.length)
        return;
    panel.append(element("h4", "Marks"), element("ul", "", view.marks.map((mark, k) => {
        const next = view.marks[k + 1], go = element("button", `${k + 1}: ${timeText(mark)}`), remove = element("button", "remove");
        go.type = remove.type = "button";
        go.addEventListener("click", () => view.show(mark - view.span / 2, view.span));
        remove.setAttribute("aria-label", `remove mark ${k + 1}`);
        remove.addEventListener("click", () => toggleMark(view, mark));
        return element("li", "", [go, next === undefined ? " " : `, ${timeText(next - mark)} to ${k + 2}, `, remove]);
    })));
}

/* Two lists of ranks, of a job. */
function addRankSelects(view) {
    const { files, lanes } = view.recording;
    view.rankSelects = [];
    if (files.length < 2 || !lanes.some((lane) => lane.group))
        return;
    const ranks = [...files].sort((a, b) => a.rank - b.rank), isRank = files.every((file) => file.group === `rank ${file.rank}`);
    for (const text of [isRank ? "Rank" : "Lanes of", "and"]) {
        const select = element("select"), label = element("label", `${text} `, [select]);
        select.append(new Option(text === "and" ? "none" : "all", ""), ...ranks.map(({ rank, group }) => new Option(isRank ? rank : group, rank)));
        select.addEventListener("change", () => compareRanks(view, view.rankSelects.map((of) => of.value).filter(Boolean)));
        view.rankSelects.push(select);
        view.root.querySelector(".tools .grow").after(label);
    }
    view.root.querySelector(".tools .grow").after(...view.rankSelects.map((select) => select.parentElement));
}
