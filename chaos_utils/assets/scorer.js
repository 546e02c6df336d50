/* Sphinx puts this into the search page's scripts: what is found, in which order.

   First the pages that answer what was asked, by `book/pages.yml`; then those whose title has all that
   was asked for; then the glossary's terms, above
   all the one that was asked for; then chapters, other pages, pages of the package's reference, and
   last its functions and classes. */
var Scorer = {
  answers: [], // pages, each with the words that it answers; the build fills them in
  score: function ([page, title, anchor, description, score]) {
    var answering = description || anchor ? [] : Scorer.answering();
    if (answering.includes(page)) return 1000 - answering.indexOf(page);
    if (!description && !anchor && Scorer.asked && title?.toLowerCase().includes(Scorer.asked)) return score + 600;
    if (description && description.startsWith("glossary term")) {
      return score + (title.toLowerCase() === Scorer.asked ? 500 : 400);
    }
    if (description) return score;
    if (/^reference(\/|$)/.test(page)) return score + 100;
    return score + (page.startsWith("chapters/") ? 300 : 200);
  },
  // The pages with the longest of the words that are asked for: an "LLM judge" is no "LLM".
  answering: function () {
    var asked = ` ${Scorer.asked.replace(/[?"“”]/g, "")} `, longest = 0, found = [];
    for (var [page, words] of Scorer.answers) {
      var length = Math.max(0, ...words.filter(word => asked.includes(` ${word} `)).map(word => word.length));
      if (length > longest) found = [];
      longest = Math.max(longest, length);
      if (length && length === longest) found.push(page);
    }
    return found;
  },
  asked: (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase(),
  // The rest as Sphinx has it, but no kind of object goes before another.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

// A page that was opened from a file may not read others to quote them.
if (window.location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

/* A word such as "constructor" is looked up among the words of the pages alone, not among what all
   objects have; Sphinx asks objects for one such method. */
const {setIndex} = Search;
Search.setIndex = function (index) {
  const {hasOwnProperty} = Object.prototype, plain = Object.create(null, {hasOwnProperty: {value: hasOwnProperty}});
  for (const one of Object.values(index)) {
    // Not by its constructor, which is a number where a page has that word.
    if (one && typeof one === "object" && !Array.isArray(one)) Object.setPrototypeOf(one, plain);
  }
  setIndex.call(Search, index);
};

/* What is quoted of a page is prose, as what is found. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";
  var quote = Search.htmlToText;
  Search.htmlToText = function (html, anchor) {
    var page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(".cell_input, .published-footer, .page-citation, [role=tooltip], noscript")
      .forEach(function (aside) { aside.remove(); });
    return quote.call(Search, page.documentElement.outerHTML, anchor);
  };
});

/* Words are marked on the page that a result leads to, and on no other: Sphinx would leave them for
   whichever page is opened next. This runs after the search itself. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";
  var key = "sphinx_highlight_terms", words = window.localStorage.getItem(key);
  window.localStorage.removeItem(key);
  function mark(event) {
    if (words && event.target.closest("#search-results a")) {
      window.localStorage.setItem(key, words);
    }
  }
  document.addEventListener("click", mark);
  document.addEventListener("auxclick", mark); // the middle button opens another tab
});
