//! The run as tables in Markdown.

use super::{Report, cases::CONSTANT, correct::Compared, wrk::Measured};

pub(super) fn print(reports: &[Report]) {
    for report in reports {
        println!("\n### {}\n", title(report.database));
        requests(report);
        if !report.transport.is_empty() {
            println!("\n| git | median, s | runs |\n| --- | ---: | ---: |");
        }
        for timed in &report.transport {
            println!("| {} | {:.2} | {} |", timed.what, timed.median(), timed.seconds.len());
        }
        println!("\n| | |\n| --- | ---: |");
        for (what, figure) in &report.notes {
            println!("| {what} | {figure} |");
        }
        if !report.compared.is_empty() {
            comparisons(&report.compared);
        }
    }
}

fn title(database: &str) -> &str {
    if database == "sqlite" { "SQLite" } else { "PostgreSQL" }
}

fn requests(report: &Report) {
    let constant = report
        .cases
        .iter()
        .find(|(name, _)| *name == CONSTANT)
        .map(|(_, figures)| figures.per_second);
    println!("| request | per second | p50, ms | p90, ms | p99, ms | ratio | failed |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (name, Measured { per_second, p50, p90, p99, failed }) in &report.cases {
        let ratio = constant.map_or(0.0, |constant| per_second / constant);
        println!(
            "| {name} | {per_second:.0} | {p50:.2} | {p90:.2} | {p99:.2} | {ratio:.4} | {failed} |"
        );
    }
}

fn comparisons(compared: &[Compared]) {
    println!("\n| compared with git | facts | differing |\n| --- | ---: | ---: |");
    for Compared { what, count, differences } in compared {
        println!("| {what} | {count} | {} |", differences.len());
    }
    for difference in compared.iter().flat_map(|compared| compared.differences.iter().take(5)) {
        println!("- {difference}");
    }
}
