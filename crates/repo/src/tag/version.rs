//! Names of tags in the order of the versions that they stand for, as `git for-each-ref --sort=version:refname` has
//! them: bytes as bytes and whole numbers as numbers, `v1.9` before `v1.10`. A number that begins with a zero is read
//! like what stands behind a decimal point: `v1.09` before `v1.1`.

use std::cmp::Ordering;

/// The end of the common prefix of two names.
enum CommonPrefix {
    /// Something else than digits.
    Text,
    /// The beginning of a whole number.
    Number,
    /// Zeros that begin a number.
    Zeros,
    /// The beginning of a number that begins with a zero.
    Fraction,
}

/// Compares two names as versions. Only equal names are equal.
pub(super) fn compare(one: &[u8], other: &[u8]) -> Ordering {
    let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (mine, theirs) = (&one[common..], &other[common..]);
    let as_text = mine.cmp(theirs);
    let as_numbers = || digits(mine).cmp(&digits(theirs)).then(as_text);
    match (before(&one[..common]), digits(mine) > 0, digits(theirs) > 0) {
        (CommonPrefix::Text, true, true) if mine[0] != b'0' && theirs[0] != b'0' => as_numbers(),
        (CommonPrefix::Number, true, true) => as_numbers(),
        // The longer number is the larger one; of two runs of zeros it is the smaller one.
        (CommonPrefix::Number, true, false) | (CommonPrefix::Zeros, false, true) => {
            Ordering::Greater
        }
        (CommonPrefix::Number, false, true) | (CommonPrefix::Zeros, true, false) => Ordering::Less,
        _ => as_text,
    }
}

fn before(common: &[u8]) -> CommonPrefix {
    let length = common.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let number = &common[common.len() - length..];
    match number.first() {
        None => CommonPrefix::Text,
        Some(b'0') if number.iter().all(|digit| *digit == b'0') => CommonPrefix::Zeros,
        Some(b'0') => CommonPrefix::Fraction,
        Some(_) => CommonPrefix::Number,
    }
}

/// How many digits a text begins with.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn numbers_count_as_numbers_and_all_else_as_text() {
        let sorted: [&[u8]; 16] = [
            b"0.1",
            b"0.9",
            b"0.10",
            b"1.9.0",
            b"v1.001",
            b"v1.01",
            b"v1.010",
            b"v1.09",
            b"v1.0.0",
            b"v1.0.0-alpha",
            b"v1.0.0-rc1",
            b"v1.0.0-rc2",
            b"v1.0.0-rc10",
            b"v1.2",
            b"v1.10",
            b"v2",
        ];
        let mut mixed = sorted;
        mixed.reverse();
        mixed.sort_by(|one, other| compare(one, other));
        assert_eq!(mixed, sorted);
        assert!(compare(b"v1.99999999999999999999999", b"v1.100000000000000000000000").is_lt());
    }
}
