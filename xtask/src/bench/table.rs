//! The run as tables in Markdown, in the form in which `docs/performance.md` has them.

use super::{cases::CONSTANT, correctness::ComparisonLine, report::Report, wrk::Measurement};

pub(super) fn print(reports: &[Report]) {
    println!("\nTimes in ms; failed answers, where there are any, in brackets.\n");
    requests(reports);
    if reports.iter().any(|report| !report.transport.is_empty()) {
        println!();
        transport(reports);
    }
    println!();
    notes(reports);
    for report in reports.iter().filter(|report| !report.compared.is_empty()) {
        println!("\nCompared with git's command line beside {}:", title(report.database));
        comparisons(&report.compared);
    }
}

fn title(database: &str) -> &str {
    if database == "sqlite" { "SQLite" } else { "PostgreSQL" }
}

/// A line of a table: the first cell, then what each database has there.
fn line(first: &str, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<String> = cells.into_iter().collect();
    println!("| {first} | {} |", cells.join(" | "));
}

/// The names that any report has, in the order of the first that has them.
fn names<'a>(of: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for name in of {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn requests(reports: &[Report]) {
    let head = |report: &Report| format!("{} /s | p50 | p90 | p99 | ratio", title(report.database));
    line("request", reports.iter().map(head));
    line("---", reports.iter().map(|_| "---: | ---: | ---: | ---: | ---:".to_owned()));
    let all = reports.iter().flat_map(|report| report.cases.iter().map(|(name, _)| *name));
    for name in names(all) {
        line(name, reports.iter().map(|report| figures(report, name)));
    }
}

fn figures(report: &Report, name: &str) -> String {
    let find = |wanted: &str| {
        report.cases.iter().find(|(name, _)| *name == wanted).map(|(_, figures)| figures)
    };
    let Some(Measurement { per_second, p50, p90, p99, failed }) = find(name) else {
        return " | | | |".to_owned();
    };
    let ratio = find(CONSTANT).map_or(0.0, |constant| per_second / constant.per_second);
    let failed = if *failed == 0 { String::new() } else { format!(" ({failed})") };
    let rate = thousands(*per_second);
    format!("{rate}{failed} | {} | {} | {} | {ratio:.3}", brief(*p50), brief(*p90), brief(*p99))
}

fn transport(reports: &[Report]) {
    let head = |report: &Report| format!("{}, s", title(report.database));
    line("git", reports.iter().map(head));
    line("---", reports.iter().map(|_| "---:".to_owned()));
    let all = reports.iter().flat_map(|report| report.transport.iter().map(|timed| &*timed.what));
    for what in names(all) {
        let median = |report: &Report| {
            let timed = report.transport.iter().find(|timed| timed.what == what);
            timed.map_or_else(String::new, |timed| seconds(timed.median()))
        };
        line(what, reports.iter().map(median));
    }
}

fn notes(reports: &[Report]) {
    line("server", reports.iter().map(|report| title(report.database).to_owned()));
    line("---", reports.iter().map(|_| "---:".to_owned()));
    let all = reports.iter().flat_map(|report| report.notes.iter().map(|(what, _)| *what));
    for what in names(all) {
        let figure = |report: &Report| {
            let note = report.notes.iter().find(|(name, _)| *name == what);
            note.map_or_else(String::new, |(_, figure)| figure.clone())
        };
        line(what, reports.iter().map(figure));
    }
}

/// To the tenth of a millisecond where it is short.
fn seconds(time: f64) -> String {
    if time < 1.0 { format!("{time:.4}") } else { format!("{time:.2}") }
}

/// Three digits that count.
fn brief(figure: f64) -> String {
    match figure {
        figure if figure < 10.0 => format!("{figure:.2}"),
        figure if figure < 100.0 => format!("{figure:.1}"),
        figure => thousands(figure),
    }
}

/// `12,345`
fn thousands(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn comparisons(compared: &[ComparisonLine]) {
    println!("\n| compared with git | facts | differing |\n| --- | ---: | ---: |");
    for ComparisonLine { what, count, differences } in compared {
        println!("| {what} | {count} | {} |", differences.len());
    }
    for difference in compared.iter().flat_map(|compared| compared.differences.iter().take(5)) {
        println!("- {difference}");
    }
}

#[cfg(test)]
mod tests {
    use super::{brief, thousands};

    #[test]
    fn figures_are_short_and_readable() {
        assert_eq!(thousands(108_203.4), "108,203");
        assert_eq!(thousands(50.2), "50");
        assert_eq!(brief(0.274), "0.27");
        assert_eq!(brief(64.83), "64.8");
        assert_eq!(brief(1_050.0), "1,050");
    }
}
