//! Which licence a text is.

use crate::entities::org::project::LicenseEntity;

/// Each licence by phrases that only its text has, all of them; the more particular ones come first.
const KNOWN: &[(&[&str], LicenseEntity)] = &[
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

pub const OTHER: LicenseEntity = license("other", "Other", None, "");

const fn license(
    key: &'static str,
    name: &'static str,
    nickname: Option<&'static str>,
    url: &'static str,
) -> LicenseEntity {
    LicenseEntity { key, name, nickname, html_url: url, source_url: url }
}

/// The licence that a text is, by what only that one says; nothing where nobody knows it.
pub fn of_text(text: &str) -> Option<LicenseEntity> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain = words.join(" ").to_lowercase();
    let known =
        KNOWN.iter().find(|(phrases, _)| phrases.iter().all(|phrase| plain.contains(phrase)));
    known.map(|(_, license)| license.clone())
}

#[cfg(test)]
mod tests {
    use super::of_text;

    #[test]
    fn a_licence_is_known_by_its_words() {
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
