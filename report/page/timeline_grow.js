/* ---- a click on the step that the first screen draws: the timeline grows in its place ---- */

/* VIEW is back where it was. */
function shrink(view) {
    if (!view.grownIn)
        return;
    const figure = view.grownIn;
    view.home.replaceWith(view.root);
    view.grownIn = null;
    figure.classList.remove("grown");
    view.root.querySelector("[data-do=shrink]").hidden = true;
    view.draw(true);
    figure.scrollIntoView({ behavior: "instant", block: "nearest" });
}

/* VIEW is where FIGURE's picture was, at first as high as that was. */
function grow(view, figure) {
    const chart = figure.querySelector(".chart"), high = chart.getBoundingClientRect().height;
    view.home = element("p", "It is open on the first screen.");
    view.home.className = "faint";
    view.root.replaceWith(view.home);
    figure.append(view.root);
    figure.classList.add("grown");
    view.grownIn = figure;
    view.root.querySelector("[data-do=shrink]").hidden = false;
    view.draw(true);
    view.drawNow();
    if (matchMedia("(prefers-reduced-motion: no-preference)").matches)
        view.box.animate([{ height: `${high}px`, opacity: 0.3 }, { height: `${view.box.clientHeight}px`, opacity: 1 }], { duration: 250, easing: "ease-out" });
}

function followDrawnSteps() {
    for (const figure of document.querySelectorAll(".one-step")) {
        const peak = figure.querySelector(".peak"), chart = figure.querySelector(".chart");
        if (peak) /* where the picture is wider than the screen */
            chart.scrollLeft += peak.getBoundingClientRect().left - chart.getBoundingClientRect().left - chart.clientWidth * 0.7;
        for (const made of figure.querySelectorAll("a"))
            made.addEventListener("click", (event) => {
                const [, number] = made.hash.match(/^#(?:(\d+)\.)?[tm]=/) || [], view = timelines[(number || 1) - 1];
                if (!view || event.ctrlKey || event.metaKey || event.shiftKey)
                    return;
                event.preventDefault();
                if (!view.grownIn)
                    grow(view, figure);
                history.replaceState(null, "", made.hash);
                followHash();
            });
    }
}
