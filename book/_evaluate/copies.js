/* Predictions that copy the votes which judge them.

   The same as chaos_utils/scoring/copies.py, whose numbers and words the page has as data. */
(function () {
  "use strict";

  const {sum, mean, argmax, percent} = window.Page;
  const {itemsOf, squared, entropy, median} = window.Evaluate;

  /* Whether the most frequent label has one vote more than the next. */
  function isDecidedByOne({votes}) {
    const [first, second] = [...votes].sort((a, b) => b - a);
    return first - second === 1;
  }

  /* What shows that predictions were copied, by the name of the words for it; nothing where nothing does. */
  function whatShows(predictions, rule) {
    const {dataset, isOfLabels} = predictions;
    const items = itemsOf(predictions), several = items.filter(({votes}) => sum(votes) > 1);
    const split = several.filter(({human}) => Math.max(...human) < 1);
    if (split.length < rule.fewest) return undefined;
    const distance = mean(several.map(squared));
    if (distance <= 0) return ["distance", distance.toFixed(4).replace("-", "−")];
    const numbers = dataset.uids.map((_, i) => sum(dataset.votes.map((column) => column[i])));
    const hasMost = ({model, votes}) => votes[argmax(model)] === Math.max(...votes);
    if (median(numbers) < rule.enough_votes) {
      const isCopy = split.filter(isDecidedByOne).length >= rule.fewest_by_one && split.every(hasMost);
      return isCopy ? ["majority", percent(1)] : undefined;
    }
    const disputed = items.filter(({human}) => entropy(human) / Math.LN2 > rule.disputed);
    if (disputed.length < rule.fewest) return undefined;
    const shareOf = (isSo) => mean(disputed.map((item) => Number(isSo(item))));
    const agreed = shareOf(hasMost);
    if (agreed >= rule.most_of_majority) return ["majority", percent(agreed)];
    if (isOfLabels) return undefined;
    const exact = shareOf(({model, human}) => model.every((m, k) => Math.abs(m - human[k]) <= rule.exact));
    const most = dataset.labels.length === 2 ? rule.most_exact_of_two : rule.most_exact;
    return exact > most ? ["exact", percent(exact)] : undefined;
  }

  /* The warning of a copy, its question and what follows it; nothing where nothing shows one. */
  function copyWarning(predictions, rule) {
    const shown = whatShows(predictions, rule);
    if (!shown) return undefined;
    const [name, value] = shown, found = rule.found[name].replace("'", "’").replace("{value}", value);
    const known = {system: predictions.model, dataset: predictions.dataset.short, found};
    const [question, ...rest] = rule.warning.split(/(?<=\?) /);
    return [question, rest.join(" ").replace(/\{(\w+)\}/g, (_, one) => known[one])];
  }

  Object.assign(window.Evaluate, {copyWarning});
})();
