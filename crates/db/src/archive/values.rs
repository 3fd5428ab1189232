//! Rules about values that many relations share.

use kernel::TextEnum;

/// Largest number of an item, and of what there are few of.
pub const LAST_NUMBER: i64 = 1 << 31;

/// Whether a word is a value of an enum.
pub fn is_one_of<E: TextEnum>(word: &str) -> bool {
    E::find(word).is_some()
}

/// Whether a text is the full name of a commit, or another hash of that length, as it is written here: in lower case, as
/// rows are found by it.
pub fn is_sha(word: &str) -> bool {
    word.len() == 40 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::is_sha;

    #[test]
    fn hashes_are_whole_and_in_lower_case() {
        let digits = "0123456789abcdef".repeat(3);
        assert!(is_sha(&digits[..40]));
        for bad in ["", "0", &digits[..40].to_uppercase(), &digits, &"g".repeat(40)] {
            assert!(!is_sha(bad), "{bad}");
        }
    }
}
