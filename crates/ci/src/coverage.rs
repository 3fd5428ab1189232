//! The bounds of a coverage, whoever tells it: a log, an outside check or an archive.

/// Nobody covers more percent, and sums of such numbers lose nothing that is shown.
pub(crate) const LARGEST: f64 = 1e9;

/// Whether a number may be what a job covers, or the mean of several.
pub(crate) fn is_coverage(number: f64) -> bool {
    (-LARGEST..=LARGEST).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::is_coverage;

    #[test]
    fn a_coverage_is_a_number_that_can_be_summed_up() {
        for number in [0.0, -1.5, 98.76, 1e9, -1e9] {
            assert!(is_coverage(number), "{number}");
        }
        for odd in [1.1e9, -1e305, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(!is_coverage(odd), "{odd}");
        }
    }
}
