//! The license of a repository, recognised by the text of its file.

use kernel::{Error, Result};

use crate::git::{GitError, Oid, Reader};

/// Longer files are no license.
const LONGEST: u64 = 1 << 20;
/// A repository with more license files is judged by the first of them.
const MOST_FILES: usize = 20;

/// A license as people and search engines know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct License {
    pub key: &'static str,
    pub name: &'static str,
    pub nickname: Option<&'static str>,
    /// Where its text is published.
    pub url: &'static str,
}

/// Each license by phrases that only its text has, all of them; the more particular ones come first.
const KNOWN: &[(&[&str], License)] = &[
    (
        &["gnu affero general public license", "version 3"],
        license(
            "agpl-3.0",
            "GNU Affero General Public License v3.0",
            Some("GNU AGPLv3"),
            "https://www.gnu.org/licenses/agpl-3.0.txt",
        ),
    ),
    (
        &["gnu lesser general public license", "version 3"],
        license(
            "lgpl-3.0",
            "GNU Lesser General Public License v3.0",
            Some("GNU LGPLv3"),
            "https://www.gnu.org/licenses/lgpl-3.0.txt",
        ),
    ),
    (
        &["gnu lesser general public license", "version 2.1"],
        license(
            "lgpl-2.1",
            "GNU Lesser General Public License v2.1",
            Some("GNU LGPLv2.1"),
            "https://www.gnu.org/licenses/lgpl-2.1.txt",
        ),
    ),
    (
        &["gnu general public license", "version 3"],
        license(
            "gpl-3.0",
            "GNU General Public License v3.0",
            Some("GNU GPLv3"),
            "https://www.gnu.org/licenses/gpl-3.0.txt",
        ),
    ),
    (
        &["gnu general public license", "version 2"],
        license(
            "gpl-2.0",
            "GNU General Public License v2.0",
            Some("GNU GPLv2"),
            "https://www.gnu.org/licenses/gpl-2.0.txt",
        ),
    ),
    (
        &["apache license", "version 2.0"],
        license(
            "apache-2.0",
            "Apache License 2.0",
            None,
            "https://www.apache.org/licenses/LICENSE-2.0",
        ),
    ),
    (
        &["mozilla public license", "version 2.0"],
        license(
            "mpl-2.0",
            "Mozilla Public License 2.0",
            None,
            "https://www.mozilla.org/media/MPL/2.0/index.txt",
        ),
    ),
    (
        &["permission is hereby granted, free of charge", "the software is provided \"as is\""],
        license("mit", "MIT License", None, "https://opensource.org/licenses/MIT"),
    ),
    (
        &["permission to use, copy, modify, and/or distribute this software"],
        license("isc", "ISC License", None, "https://opensource.org/licenses/isc-license"),
    ),
    (
        &["redistribution and use in source and binary forms", "neither the name of"],
        license(
            "bsd-3-clause",
            "BSD 3-Clause \"New\" or \"Revised\" License",
            None,
            "https://opensource.org/licenses/BSD-3-Clause",
        ),
    ),
    (
        &["redistribution and use in source and binary forms"],
        license(
            "bsd-2-clause",
            "BSD 2-Clause \"Simplified\" License",
            None,
            "https://opensource.org/licenses/BSD-2-Clause",
        ),
    ),
    (
        &["this is free and unencumbered software released into the public domain"],
        license("unlicense", "The Unlicense", None, "https://unlicense.org/UNLICENSE"),
    ),
    (
        &["cc0 1.0 universal"],
        license(
            "cc0-1.0",
            "Creative Commons Zero v1.0 Universal",
            None,
            "https://creativecommons.org/publicdomain/zero/1.0/legalcode.txt",
        ),
    ),
];

const OTHER: License = license("other", "Other", None, "");

const fn license(
    key: &'static str,
    name: &'static str,
    nickname: Option<&'static str>,
    url: &'static str,
) -> License {
    License { key, name, nickname, url }
}

/// The license at a commit, with the path of its file: of several files the first that is recognised, otherwise the first.
pub fn of_commit(reader: &Reader, commit: Oid) -> Result<Option<(String, License)>> {
    let mut first = None;
    for file in reader.licenses(commit)?.into_iter().take(MOST_FILES) {
        let path = file.path.to_text().into_owned();
        match of_file(reader, file.id)? {
            Some(license) => return Ok(Some((path, license))),
            None => first = first.or(Some((path, OTHER))),
        }
    }
    Ok(first)
}

fn of_file(reader: &Reader, file: Oid) -> Result<Option<License>> {
    match reader.blob(file, LONGEST) {
        Ok(text) => Ok(of_text(&String::from_utf8_lossy(&text))),
        Err(GitError::TooLarge) => Ok(None),
        Err(failure) => Err(Error::from(failure)),
    }
}

/// Recognises a license by phrases that only its text has.
fn of_text(text: &str) -> Option<License> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain = words.join(" ").to_lowercase();
    let known =
        KNOWN.iter().find(|(phrases, _)| phrases.iter().all(|phrase| plain.contains(phrase)));
    known.map(|(_, license)| *license)
}

#[cfg(test)]
mod tests {
    use super::of_text;

    #[test]
    fn a_license_is_recognised_by_its_words() {
        let mit = "Permission is hereby granted, free\n  of charge, to anybody.\nTHE SOFTWARE IS PROVIDED \"AS IS\"";
        for (text, key) in [
            (mit, "mit"),
            ("Apache License\n Version 2.0, January 2004", "apache-2.0"),
            ("GNU GENERAL PUBLIC LICENSE\nVersion 2, June 1991", "gpl-2.0"),
        ] {
            assert_eq!(of_text(text).map(|license| license.key), Some(key));
        }
        assert!(of_text("Ask first.").is_none());
    }
}
