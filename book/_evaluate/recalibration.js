/* The map that recalibrates a system, fitted to the votes on other folds' items.

   The same as chaos_utils/scoring/recalibration.py, which says what it means. */
(function () {
  "use strict";

  const {argmax, count} = window.Page;
  const FEWEST = 500, PER_NUMBER = 40, PENALTY = 3, FLOOR = 1e-9, CERTAIN = 1e-9;
  const CONSTANT = 1e-9, STEPS = 100, NEAR = 1e-10;

  const total = (values, of) => values.reduce((all, value, k) => all + of(value, k), 0);
  const dot = (one, other) => total(one, (value, k) => value * other[k]);
  const mean = (rows, k) => total(rows, (row) => row[k]) / rows.length;

  const numbersIn = (nClasses) => nClasses * (nClasses + 1);
  const neededToRecalibrate = (nClasses) => Math.max(FEWEST, PER_NUMBER * numbersIn(nClasses));

  /* Why so many items are too few for a map of so many labels; empty where they are not. */
  function tooFewToRecalibrate(nItems, nClasses) {
    const needed = neededToRecalibrate(nClasses);
    return nItems >= needed ? "" : `a map of ${numbersIn(nClasses)} numbers takes ${count(needed)} items, `
      + `and these are ${count(nItems)}`;
  }

  const areLabels = (probabilities) => probabilities.every((row) => Math.max(...row) > 1 - CERTAIN);

  /* The distributions of items {model, human, fold}, mapped as is best for those of other folds. */
  function recalibrated(items) {
    const folds = [...new Set(items.map(({fold}) => fold))];
    const hard = areLabels(items.map(({model}) => model));
    const maps = new Map(folds.map((fold) => {
      const others = items.filter((item) => item.fold !== fold);
      return [fold, hard ? meanVoteGivenLabel(others) : affine(others)];
    }));
    return items.map((item) => maps.get(item.fold)(item.model));
  }

  function meanVoteGivenLabel(items) {
    const k = items[0].human.length;
    const meanOf = (some) => Array.from({length: k}, (_, c) => mean(some.map(({human}) => human), c));
    const of = Array.from({length: k}, (_, label) => items.filter(({model}) => argmax(model) === label));
    const all = meanOf(items), means = of.map((some) => (some.length ? meanOf(some) : all));
    return (model) => means[argmax(model)];
  }

  const logsOf = (model) => model.map((p) => Math.log(Math.max(p, FLOOR)));

  function affine(items) {
    const {weights, intercepts} = fitAffine(items.map(({model}) => logsOf(model)),
      items.map(({human}) => human));
    return (model) => {
      const logs = logsOf(model);
      return logSoftmax(intercepts.map((b, c) => b + total(logs, (x, j) => x * weights[j][c]))).map(Math.exp);
    };
  }

  function logSoftmax(scores) {
    const largest = Math.max(...scores);
    const all = Math.log(total(scores, (score) => Math.exp(score - largest)));
    return scores.map((score) => score - largest - all);
  }

  /* The affine map that is nearest to the votes by KL: Newton's method, each step halved until it gains. */
  function fitAffine(logs, shares) {
    const n = logs.length, k = shares[0].length, width = k + 1, size = k * width;
    const means = logs[0].map((_, j) => mean(logs, j));
    const scales = means.map((center, j) => {
      const spread = Math.sqrt(total(logs, (row) => (row[j] - center) ** 2) / n);
      return spread > CONSTANT ? spread : 1;
    });
    const x = logs.map((row) => [...row.map((value, j) => (value - means[j]) / scales[j]), 1]);
    const ridge = Array.from({length: size}, (_, i) => (i % width === k ? 0 : 2 * PENALTY / n));
    const predict = (numbers) => x.map((row) => logSoftmax(Array.from({length: k}, (_, c) =>
      total(row, (value, j) => value * numbers[c * width + j]))));
    const loss = (numbers, fitted) => total(numbers, (one, i) => ridge[i] * one ** 2) / 2
      - total(fitted, (row, i) => dot(row, shares[i])) / n;
    let numbers = new Array(size).fill(0);
    for (let c = 0; c < k; c += 1) numbers[c * width + k] = Math.log(Math.max(mean(shares, c), FLOOR));
    let fitted = predict(numbers), value = loss(numbers, fitted);
    for (let turn = 0; turn < STEPS; turn += 1) {
      const {slope, curvature} = derivatives(x, shares, fitted, numbers, ridge, k);
      const step = solve(curvature, slope), promised = dot(slope, step);
      if (promised < NEAR) break;
      let part = 1, gained = -Infinity, tried, logsTried;
      while (part > CONSTANT) {
        tried = numbers.map((one, i) => one - part * step[i]);
        logsTried = predict(tried);
        gained = value - loss(tried, logsTried);
        if (gained >= part * promised / 4) break;
        part /= 2;
      }
      if (part <= CONSTANT) break;
      [numbers, fitted, value] = [tried, logsTried, value - gained];
    }
    const weights = scales.map((scale, j) => Array.from({length: k}, (_, c) => numbers[c * width + j] / scale));
    const intercepts = Array.from({length: k}, (_, c) =>
      numbers[c * width + k] - total(means, (center, j) => center * weights[j][c]));
    return {weights, intercepts};
  }

  function derivatives(x, shares, fitted, numbers, ridge, k) {
    const n = x.length, width = k + 1, size = k * width;
    const slope = numbers.map((one, i) => ridge[i] * one);
    const curvature = Array.from({length: size}, (_, i) => {
      const row = new Float64Array(size);
      row[i] = ridge[i];
      return row;
    });
    for (let i = 0; i < n; i += 1) {
      const row = x[i], q = fitted[i].map(Math.exp);
      for (let c = 0; c < k; c += 1) {
        for (let j = 0; j < width; j += 1) slope[c * width + j] += (q[c] - shares[i][c]) * row[j] / n;
        for (let d = 0; d < k; d += 1) {
          const weight = q[c] * (Number(c === d) - q[d]) / n;
          for (let j = 0; j < width; j += 1) {
            const of = curvature[c * width + j], one = weight * row[j];
            for (let m = 0; m < width; m += 1) of[d * width + m] += one * row[m];
          }
        }
      }
    }
    // The same number added to all intercepts changes nothing: holding their sum changes no prediction.
    for (let c = 0; c < k; c += 1) {
      for (let d = 0; d < k; d += 1) curvature[c * width + k][d * width + k] += 1 / k;
    }
    return {slope, curvature};
  }

  /* The solution of linear equations, by elimination. */
  function solve(matrix, right) {
    const rows = matrix.map((row, i) => [...row, right[i]]), n = rows.length;
    for (let j = 0; j < n; j += 1) {
      let best = j;
      for (let i = j + 1; i < n; i += 1) if (Math.abs(rows[i][j]) > Math.abs(rows[best][j])) best = i;
      [rows[j], rows[best]] = [rows[best], rows[j]];
      for (let i = j + 1; i < n; i += 1) {
        const times = rows[i][j] / rows[j][j];
        for (let m = j; m <= n; m += 1) rows[i][m] -= times * rows[j][m];
      }
    }
    const found = new Array(n).fill(0);
    for (let j = n - 1; j >= 0; j -= 1) {
      let rest = rows[j][n];
      for (let m = j + 1; m < n; m += 1) rest -= rows[j][m] * found[m];
      found[j] = rest / rows[j][j];
    }
    return found;
  }

  Object.assign(window.Evaluate, {recalibrated, neededToRecalibrate, tooFewToRecalibrate, areLabels});
})();
