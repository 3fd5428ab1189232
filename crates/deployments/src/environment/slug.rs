//! A short name of an environment that host names and labels can hold.

use sha2::{Digest as _, Sha256};

/// The most letters of a slug.
const MOST: usize = 24;
/// So many letters of a name are kept before the digits that tell names apart.
const KEPT: usize = 17;
/// So many of these digits there are.
const DIGITS: usize = 6;
const BASE: u64 = 36;

/// The slug of an environment that is made with this name.
pub fn slug(name: &str) -> String {
    let plain = |sign: char| match sign.to_ascii_lowercase() {
        sign @ ('a'..='z' | '0'..='9') => sign,
        _ => '-',
    };
    let mut slug = String::with_capacity(MOST);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        slug.push_str("env-");
    }
    for sign in name.chars().map(plain) {
        if sign != '-' || !slug.ends_with('-') {
            slug.push(sign);
        }
    }
    if slug.len() <= MOST && slug == name {
        return slug.strip_suffix('-').unwrap_or(&slug).to_owned();
    }
    slug.truncate(KEPT);
    if !slug.ends_with('-') {
        slug.push('-');
    }
    slug + &digits(name)
}

/// Whether a text may be the slug of an environment.
pub fn is_slug(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.len() <= MOST && text.bytes().all(fits)
}

/// The last digits of a name's digest, read as a number.
fn digits(name: &str) -> String {
    let modulus = BASE.pow(6);
    let digest = Sha256::digest(name);
    let mut rest = digest.iter().fold(0, |sum, byte| (sum * 256 + u64::from(*byte)) % modulus);
    let mut digits = [b'0'; DIGITS];
    for digit in digits.iter_mut().rev() {
        *digit = u8::try_from(rest % BASE).map_or(b'0', |value| match value {
            0..=9 => b'0' + value,
            _ => b'a' + value - 10,
        });
        rest /= BASE;
    }
    digits.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn a_slug_is_the_name_where_that_is_short_and_plain() {
        assert_eq!(slug("production"), "production");
        assert_eq!(slug("a-b"), "a-b");
        assert_eq!(slug("staging-"), "staging");
    }

    #[test]
    fn other_names_are_told_apart_by_digits() {
        for (name, expected) in [
            ("review/Feature", "review-feature-2eolhq"),
            ("staging-12345678901234567", "staging-123456789-s729ne"),
            ("9-staging-123456789012345", "env-9-staging-123-f6hm7j"),
            ("Production", "production-iis43c"),
            ("a--b", "a-b-m3ql0o"),
            ("-x", "env-x-f5r59i"),
        ] {
            assert_eq!(slug(name), expected, "{name}");
        }
    }
}
