//! Rules about single values, and the words for a value that breaks one.

use std::ops::RangeInclusive;

use validator::{ValidateEmail as _, ValidateLength as _, ValidateRange as _, ValidateUrl as _};

/// More octets than the path of a message may have.
const LONGEST_ADDRESS: usize = 254;

/// The largest number of what clients keep in 32 bits: a weight, a priority.
pub const LARGEST_INTEGER: i64 = 2_147_483_647;

/// Approvals that a project or one of its rules can ask for.
pub const MOST_APPROVALS: i64 = 100;

/// Bytes of the longest name of a ref that rows may have. No new branch or tag gets a longer one than 1,000, and indexes of
/// PostgreSQL take 2,704 with everything else that they hold.
const LONGEST_REF: usize = 1024;

/// Whether rows may have a name of a branch, tag or other ref, of which indexes are made.
pub fn is_indexable_ref(name: &str) -> bool {
    name.len() <= LONGEST_REF
}

/// Whether git may have a branch or tag of this name, or another ref.
pub fn is_ref_name(name: &str) -> bool {
    let is_odd = |sign: char| sign.is_ascii_control() || " ~^:?*[\\".contains(sign);
    !name.is_empty() && is_indexable_ref(name) && !name.contains(is_odd) && !name.contains("..")
}

/// Whether a letter could be sent there: an address as HTML forms take it.
pub fn is_email(text: &str) -> bool {
    text.len() <= LONGEST_ADDRESS && text.validate_email()
}

/// Whether it is an absolute address of HTTP or HTTPS that names a host.
pub fn is_web_url(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let host = lower.strip_prefix("http://").or_else(|| lower.strip_prefix("https://"));
    // The parser is for what people type: it skips slashes, encodes spaces, and ends a host at a backslash, which others take
    // for a part of it.
    let odd = |sign: char| sign.is_whitespace() || sign.is_control();
    let is_plain = |host: &str| {
        let place = host.split(['/', '?', '#']).next().unwrap_or_default();
        !place.is_empty() && !place.contains('\\') && !host.contains(odd)
    };
    host.is_some_and(is_plain) && text.validate_url()
}

/// What is wrong with the length of a text, in characters.
pub fn length_fault(text: &str, most: usize) -> Option<String> {
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    let fits = text.validate_length(None, Some(limit), None);
    (!fits).then(|| format!("is too long (maximum is {most} characters)"))
}

/// What is wrong with a number that has to be within bounds.
pub fn range_fault(number: i64, bounds: RangeInclusive<i64>) -> Option<String> {
    let (least, most) = bounds.into_inner();
    if !number.validate_range(Some(least), None, None, None) {
        return Some(format!("must be greater than or equal to {least}"));
    }
    let fits = number.validate_range(None, Some(most), None, None);
    (!fits).then(|| format!("must be less than or equal to {most}"))
}

#[cfg(test)]
mod tests {
    use super::{is_email, is_indexable_ref, is_ref_name, is_web_url, length_fault, range_fault};

    #[test]
    fn a_name_of_a_ref_fits_into_indexes_by_its_bytes() {
        assert!(is_indexable_ref("refs/merge-requests/1/head"));
        assert!(is_indexable_ref(&"ä".repeat(512)));
        assert!(!is_indexable_ref(&"ä".repeat(513)));
    }

    #[test]
    fn a_ref_has_no_signs_that_git_reads_otherwise() {
        for name in ["main", "v1.0", "ä/b", "refs/merge-requests/1/head"] {
            assert!(is_ref_name(name), "{name}");
        }
        let long = "a".repeat(1025);
        for name in ["", "a b", "a..b", "a\nb", "a\tb", "a:b", "~", "+a:b*", &long] {
            assert!(!is_ref_name(name), "{name}");
        }
    }

    #[test]
    fn an_email_address_has_two_halves() {
        for text in ["ada@example.com", "a+b@x", "a.b@sub.example.org", "o'hara@example.com"] {
            assert!(is_email(text), "{text}");
        }
        let long = format!("a@{}example.com", "x.".repeat(130));
        for text in ["", "ada", "@x", "a@", "a@b@c", "a b@c", "a@.c", "a@c.", "<a@b>", &long] {
            assert!(!is_email(text), "{text}");
        }
    }

    #[test]
    fn a_web_address_names_a_host() {
        for url in
            ["http://a", "https://ci.example.com/b/1?x#y", "HTTPS://A.b", "http://a.b:80/c?d"]
        {
            assert!(is_web_url(url), "{url}");
        }
        for url in
            ["", "/a", "git://a", "http://", "https:///x", "http://?x", "http://a b", "file:///x"]
        {
            assert!(!is_web_url(url), "{url}");
        }
        let two_hosts = "http://127.0.0.1\\@example.com/";
        for url in ["javascript:alert(1)", "http://a/b c", "http://a/\n", "ci", two_hosts] {
            assert!(!is_web_url(url), "{url:?}");
        }
    }

    #[test]
    fn a_length_counts_characters() {
        assert_eq!(length_fault("ééé", 3), None);
        let fault = length_fault("éééé", 3);
        assert_eq!(fault.as_deref(), Some("is too long (maximum is 3 characters)"));
    }

    #[test]
    fn bounds_are_within_the_range() {
        assert_eq!([1, 2].map(|number| range_fault(number, 1..=2)), [None, None]);
        let low = range_fault(0, 1..=2);
        assert_eq!(low.as_deref(), Some("must be greater than or equal to 1"));
        let high = range_fault(3, 1..=2);
        assert_eq!(high.as_deref(), Some("must be less than or equal to 2"));
    }
}
