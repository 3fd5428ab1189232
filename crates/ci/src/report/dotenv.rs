//! Variables that a job hands on: lines of `KEY=value`.

use std::{
    io::{BufRead, Read as _},
    ops::ControlFlow,
};

use indexmap::IndexMap;

use super::packed::each_file;

/// The size limits of a dotenv report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DotenvLimits {
    /// Bytes of all files, which have to be fewer.
    pub size: usize,
    pub variables: usize,
}

const KEY_LENGTH_LIMIT: usize = 255;

const INVALID: &str = "Invalid Format";

/// The variables of a report as it was brought, in the order in which they first stand.
///
/// # Errors
/// With the sentence that whoever brought it is told.
pub fn read(packed: impl BufRead, limits: &DotenvLimits) -> Result<Vec<(String, String)>, String> {
    let (mut all, mut size, mut refusal) = (IndexMap::new(), 0, None);
    let unpacked = each_file(packed, |file| {
        match file_text(file, limits, &mut size).and_then(|text| lines(&text, &mut all)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(sentence) => {
                refusal = Some(sentence);
                ControlFlow::Break(())
            }
        }
    });
    match (refusal, unpacked) {
        (Some(sentence), _) => Err(sentence),
        (None, Err(_no_gzip)) => Err(INVALID.to_owned()),
        (None, Ok(())) => checked(all, limits),
    }
}

fn file_text(
    file: &mut dyn BufRead,
    limits: &DotenvLimits,
    size: &mut usize,
) -> Result<String, String> {
    let left = limits.size.saturating_sub(*size);
    let mut bytes = Vec::new();
    let most = u64::try_from(left).unwrap_or(u64::MAX);
    file.take(most).read_to_end(&mut bytes).map_err(|_no_gzip| INVALID.to_owned())?;
    if bytes.len() >= left {
        let most = limits.size;
        return Err(format!("Dotenv Artifact Too Big. Maximum Allowable Size: {most}"));
    }
    *size += bytes.len();
    let text = String::from_utf8(bytes).map_err(|_no_text| INVALID.to_owned())?;
    Ok(text)
}

fn lines(text: &str, all: &mut IndexMap<String, String>) -> Result<(), String> {
    // Some editors begin a file with this sign.
    for line in text.trim_start_matches('\u{feff}').lines() {
        let (key, value) = line.split_once('=').ok_or_else(|| INVALID.to_owned())?;
        if value.contains('\0') {
            return Err(INVALID.to_owned());
        }
        all.insert(key.trim().to_owned(), value.trim().to_owned());
    }
    Ok(())
}

fn checked(
    all: IndexMap<String, String>,
    limits: &DotenvLimits,
) -> Result<Vec<(String, String)>, String> {
    if all.len() > limits.variables {
        let most = limits.variables;
        return Err(format!("Dotenv files cannot have more than {most} variables"));
    }
    match all.keys().find_map(|key| key_problem(key)) {
        Some(problem) => Err(format!("Validation failed: {problem}")),
        None => Ok(all.into_iter().collect()),
    }
}

fn key_problem(key: &str) -> Option<String> {
    let is_plain = |key: &str| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut problems = Vec::new();
    if key.is_empty() {
        problems.push("Key can't be blank".to_owned());
    }
    if key.chars().count() > KEY_LENGTH_LIMIT {
        problems.push(format!("Key is too long (maximum is {KEY_LENGTH_LIMIT} characters)"));
    }
    if key.is_empty() || !is_plain(key) {
        problems.push("Key can contain only letters, digits and '_'.".to_owned());
    }
    (!problems.is_empty()).then(|| problems.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{DotenvLimits, read};
    use crate::report::packed::tests::pack;

    const LIMITS: DotenvLimits = DotenvLimits { size: 5_120, variables: 20 };

    fn variables(text: &str) -> Result<Vec<(String, String)>, String> {
        read(pack(&[text]).as_slice(), &LIMITS)
    }

    #[test]
    fn lines_are_split_at_the_first_sign_and_the_last_of_a_name_counts() {
        let text = "A=1\r\n B = x=\"y\" \nA=2\n_c=\n";

        let found = variables(text).unwrap();

        let found: Vec<_> =
            found.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(found, [("A", "2"), ("B", "x=\"y\""), ("_c", "")]);
        assert_eq!(variables(""), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_variable_is_refused() {
        let model = "Validation failed: Key can contain only letters, digits and '_'.";
        for (text, sentence) in [
            ("A=1\n\nB=2", "Invalid Format"),
            ("# comment", "Invalid Format"),
            ("A", "Invalid Format"),
            ("A=\0", "Invalid Format"),
            ("A-B=1", model),
            ("# A=1", model),
        ] {
            assert_eq!(variables(text), Err(sentence.to_owned()), "{text:?}");
        }
        let blank = variables("=1").unwrap_err();
        assert!(blank.starts_with("Validation failed: Key can't be blank, Key can"), "{blank}");
        assert_eq!(read(&b"A=1"[..], &LIMITS), Err("Invalid Format".to_owned()));
    }

    #[test]
    fn a_file_has_an_end_in_size_and_number() {
        let many = |count: usize| (0..count).map(|one| format!("K{one}=1\n")).collect::<String>();
        assert_eq!(variables(&many(20)).unwrap().len(), 20);
        let refusal = "Dotenv files cannot have more than 20 variables";
        assert_eq!(variables(&many(21)), Err(refusal.to_owned()));

        let long = |size: usize| format!("A={}", "x".repeat(size - 2));
        assert_eq!(variables(&long(5_119)).unwrap().len(), 1);
        let refusal = "Dotenv Artifact Too Big. Maximum Allowable Size: 5120";
        assert_eq!(variables(&long(5_120)), Err(refusal.to_owned()));
        assert_eq!(variables(&long(50_000_000)), Err(refusal.to_owned()));
        let two = pack(&[&long(3_000), &long(3_000)]);
        assert_eq!(read(two.as_slice(), &LIMITS), Err(refusal.to_owned()));
    }
}
