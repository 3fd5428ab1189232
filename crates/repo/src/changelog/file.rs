//! The file that keeps the sections of all releases, the newest first.

use super::version::Version;

/// The file with one more section, before that of the first older release; at the end when there is none.
pub fn with_release(file: &str, version: &str, section: &str) -> String {
    let new = Version::parse(version);
    let mut at = 0;
    for line in file.split_inclusive('\n') {
        if let (Some(new), Some(old)) = (&new, version_of(line))
            && old < *new
        {
            let (before, after) = file.split_at(at);
            return format!("{before}{section}\n{after}");
        }
        at += line.len();
    }
    match file.trim_end() {
        "" => section.to_owned(),
        kept => format!("{kept}\n\n{section}"),
    }
}

/// Of a section's title: `## 1.2.3 (2026-01-05)`.
fn version_of(line: &str) -> Option<Version> {
    let title = line.strip_prefix("## ")?;
    Version::parse(title.split_whitespace().next()?)
}

#[cfg(test)]
mod tests {
    use super::with_release;

    #[test]
    fn sections_are_sorted_by_version() {
        let old = "# Changes\n\n## 2.0.0 (x)\n\n- two\n\n## 1.0.0 (x)\n\n- one\n";
        let between = with_release(old, "1.5.0", "## 1.5.0 (x)\n\n- new\n");
        assert_eq!(
            between,
            "# Changes\n\n## 2.0.0 (x)\n\n- two\n\n## 1.5.0 (x)\n\n- new\n\n## 1.0.0 (x)\n\n- one\n"
        );
        assert!(with_release(old, "0.1.0", "## 0.1.0 (x)\n").ends_with("- one\n\n## 0.1.0 (x)\n"));
        assert_eq!(with_release("", "1.0.0", "## 1.0.0 (x)\n"), "## 1.0.0 (x)\n");
    }
}
