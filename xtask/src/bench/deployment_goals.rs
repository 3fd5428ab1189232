//! The goals of deployment lists.

use super::{cases::CONSTANT, wrk::Measurement};

/// Requests a second, asked of SQLite alone.
const LEAST_SPEED: f64 = 2_000.0;
/// Milliseconds for nine of ten requests.
const MOST_P90: f64 = 20.0;

/// A line for each list, and how many of them reach both goals.
pub(super) fn goals(
    database: &str,
    cases: &[(&'static str, Measurement)],
) -> [(&'static str, String); 1] {
    let lists: Vec<_> = cases.iter().filter(|(name, _)| *name != CONSTANT).collect();
    let mut reached = 0;
    for (name, figures) in &lists {
        let is_met = is_met(database, figures);
        reached += usize::from(is_met);
        println!(
            "{name}: {:.0} a second, p90 {:.1} ms ({}: {})",
            figures.per_second,
            figures.p90,
            goal(database),
            if is_met { "met" } else { "missed" }
        );
    }
    [("lists that meet their goal", format!("{reached} of {} ({})", lists.len(), goal(database)))]
}

fn is_met(database: &str, figures: &Measurement) -> bool {
    let is_fast = database != "sqlite" || figures.per_second >= LEAST_SPEED;
    is_fast && figures.p90 <= MOST_P90 && figures.failed == 0
}

fn goal(database: &str) -> String {
    match database {
        "sqlite" => format!("at least {LEAST_SPEED:.0} a second, p90 at most {MOST_P90:.0} ms"),
        _ => format!("p90 at most {MOST_P90:.0} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Measurement, is_met};

    #[test]
    fn a_list_has_to_be_fast_and_even_and_to_answer() {
        let good = Measurement { per_second: 2_000.0, p50: 1.0, p90: 20.0, p99: 30.0, failed: 0 };
        assert!(is_met("sqlite", &good));
        let slow = Measurement { per_second: 1_999.0, ..good };
        assert!(!is_met("sqlite", &slow) && is_met("postgres", &slow));
        assert!(!is_met("postgres", &Measurement { p90: 20.1, ..good }));
        assert!(!is_met("sqlite", &Measurement { failed: 1, ..good }));
    }
}
