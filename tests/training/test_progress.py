"""What is said of a training while it runs, where no bar can be drawn."""

from chaos_utils.training import progress


def test_a_training_is_reported_by_tenths_with_its_loss():
    lines = []
    report = progress.line_report(lines.append)
    for _ in range(2):  # as folds do
        for step in range(1, 41):
            report("training", step, 40, f"loss {1 / step:.3f}")
    assert len(lines) == 22  # the first step, and each tenth
    assert lines[0] == "training: 1 of 40 steps, loss 1.000"
    assert lines[10] == lines[21] == "training: 40 of 40 steps, loss 0.025"


def test_a_long_training_is_reported_each_minute(monkeypatch):
    lines, clock = [], iter(range(0, 60 * 12, 30))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    report = progress.line_report(lines.append)
    for step in range(1, 11):
        report("training", step, 1_000_000, "loss 1.000")
    assert len(lines) == 1 + 4


def test_other_work_is_reported_where_it_takes_long(monkeypatch):
    def lines_of(seconds):
        lines, clock = [], iter(seconds * done / 100 for done in range(100))
        monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
        report = progress.line_report(lines.append)
        for done in range(1, 101):
            report("predicting dev", done, 100)
        return lines

    assert lines_of(5) == []
    assert lines_of(25) == [f"predicting dev: {n} of 100 items" for n in (50, 90)]
