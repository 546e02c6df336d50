/* Lets a reader change the parameters of a chapter; the commands that rerun it follow. */
(() => {
  "use strict";

  /* As Python's shlex.quote does. */
  function quoted(word) {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
  }

  /* As Python's json.dumps does, which sets a space behind commas and colons. */
  function json(value) {
    return Array.isArray(value) ? `[${value.map(json).join(", ")}]` : JSON.stringify(value);
  }

  function isList(parameter) {
    return parameter.kind.startsWith("list[");
  }

  /* The value that a text stands for; undefined where it is not of the parameter's type. */
  function read(parameter, text) {
    if (isList(parameter)) {
      const parts = text.split(",").map(part => part.trim()).filter(Boolean);
      const values = parts.map(part => scalar(parameter.kind.slice(5, -1), part));
      return values.includes(undefined) ? undefined : values;
    }
    if (parameter.choices.length) {
      return parameter.choices.find(choice => String(choice) === text);
    }
    return scalar(parameter.kind, text);
  }

  function scalar(kind, text) {
    if (kind === "str") return text;
    if (kind === "bool") return { true: true, false: false }[text];
    const fits = kind === "int" ? /^-?\d+$/ : /^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
    return fits.test(text.trim()) ? Number(text) : undefined;
  }

  function isSame(one, other) {
    return json(one) === json(other);
  }

  /* The commands of `chaos run` and of papermill; `changed` has pairs of a parameter and a value. */
  function commands(notebook, changed) {
    const run = ["chaos", "run", notebook];
    const papermill = ["papermill", `${notebook}.ipynb`, `${notebook}-rerun.ipynb`];
    for (const [parameter, value] of changed) {
      const name = parameter.name;
      run.push("-p", `${name}=${typeof value === "string" ? value : json(value)}`);
      if (typeof value === "string") papermill.push("-r", name, value);
      else if (isList(parameter)) papermill.push("-y", `{"${name}": ${json(value)}}`);
      else if (typeof value === "boolean") papermill.push("-p", name, value ? "True" : "False");
      else papermill.push("-p", name, String(value));
    }
    return [run, papermill].map(words => words.map(quoted).join(" "));
  }

  function field(parameter, name) {
    const options = parameter.kind === "bool" ? [true, false] : parameter.choices;
    const input = document.createElement(options.length ? "select" : "input");
    options.forEach(option => input.append(new Option(String(option), String(option))));
    const value = parameter.value;
    input.value = isList(parameter) ? value.join(", ") : String(value);
    input.setAttribute("aria-label", name);
    return input;
  }

  function start(box) {
    const [shown, papermill] = box.querySelectorAll("pre");
    const said = box.querySelector(".rerun-changed");
    const heading = document.createElement("th");
    heading.scope = "col";
    heading.textContent = "value";
    box.querySelector("thead th").after(heading);
    const rows = [...box.querySelectorAll("tr[data-parameter]")].map(row => {
      const parameter = JSON.parse(row.dataset.parameter);
      const input = field(parameter, `Value of ${parameter.name}`);
      const cell = document.createElement("td");
      cell.append(input);
      row.children[0].after(cell);
      return { parameter, input };
    });
    const follow = () => {
      const changed = [];
      let wrong = 0;
      for (const { parameter, input } of rows) {
        const value = read(parameter, input.value);
        const fits = value !== undefined;
        input.setAttribute("aria-invalid", String(!fits));
        input.title = fits ? "" : `expected: ${parameter.kind}`;
        if (!fits) wrong += 1;
        else if (!isSame(value, parameter.default)) changed.push([parameter, value]);
      }
      [shown.textContent, papermill.textContent] = commands(box.dataset.notebook, changed);
      said.textContent = wrong
        ? "the values that you set below, except those of the wrong type"
        : "the values that you set below";
    };
    rows.forEach(({ input }) => input.addEventListener("input", follow));
  }

  document.querySelectorAll(".rerun").forEach(start);
})();
