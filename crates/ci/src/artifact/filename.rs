//! Names of artifacts.

/// Characters of a name.
const LONGEST_NAME: usize = 255;

/// The last part of a name, without what could lead elsewhere or end a header; nothing where no name is left.
pub fn plain_filename(given: &str) -> Option<String> {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let signs = last.chars().filter(|sign| !sign.is_control() && *sign != '"');
    let name: String = signs.take(LONGEST_NAME).collect();
    (!matches!(name.as_str(), "" | "." | "..")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::plain_filename;

    #[test]
    fn a_name_leads_nowhere_and_ends_no_header() {
        for (given, name) in [
            ("out.zip", Some("out.zip")),
            ("../../out.zip", Some("out.zip")),
            ("C:\\out.zip", Some("out.zip")),
            ("o\"u\r\nt.zip", Some("out.zip")),
            ("out/", None),
            ("..", None),
            ("", None),
        ] {
            assert_eq!(plain_filename(given).as_deref(), name, "{given:?}");
        }
        assert_eq!(plain_filename(&"x".repeat(300)).map(|name| name.len()), Some(255));
    }
}
