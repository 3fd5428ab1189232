//! Rules about values that many relations share.

use kernel::{Error, Result, TextEnum};

/// Largest number of an item, and of what there are few of. Somebody may choose one of 31 bits, and others follow it.
pub const LAST_NUMBER: i64 = 1 << 32;

/// Takes the next number of an item, unless an archive brought the last one along: no archive would take a later one.
///
/// # Errors
/// `BadRequest` behind the last number.
pub fn ensure_number(next: i64) -> Result<i64> {
    match next <= LAST_NUMBER {
        true => Ok(next),
        false => Err(Error::invalid("iid", format!("must be less than or equal to {LAST_NUMBER}"))),
    }
}

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
    use super::{LAST_NUMBER, ensure_number, is_sha};

    #[test]
    fn no_item_gets_a_number_that_no_archive_takes() {
        assert_eq!(ensure_number(LAST_NUMBER).unwrap(), LAST_NUMBER);
        assert!(ensure_number(LAST_NUMBER + 1).is_err());
    }

    #[test]
    fn hashes_are_whole_and_in_lower_case() {
        let digits = "0123456789abcdef".repeat(3);
        assert!(is_sha(&digits[..40]));
        for bad in ["", "0", &digits[..40].to_uppercase(), &digits, &"g".repeat(40)] {
            assert!(!is_sha(bad), "{bad}");
        }
    }
}
