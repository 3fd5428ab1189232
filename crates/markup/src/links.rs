//! Targets of links to wiki pages and files.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What cannot stand in a path of an address.
const UNSAFE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'\\')
    .add(b'^')
    .add(b'|')
    .add(b'[')
    .add(b']');

/// The place that a text is read at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Links<'a> {
    wiki: Option<Wiki<'a>>,
    /// Where files that were added to a project are found.
    uploads: Option<&'a str>,
}

#[derive(Clone, Copy, Debug)]
struct Wiki<'a> {
    base: &'a str,
    folder: &'a str,
}

impl<'a> Links<'a> {
    /// Every link leads where it says.
    pub fn none() -> Self {
        Self::default()
    }

    /// Files that were added to a project lie below `base`, which takes the place of `/uploads`; every other link leads
    /// where it says.
    pub fn of_project(base: &'a str) -> Self {
        Self { wiki: None, uploads: Some(base) }
    }

    /// Pages and files of a wiki lie below `base`, an address without a slash at its end; the text lies in `folder`.
    pub fn of_wiki(base: &'a str, folder: &'a str) -> Self {
        Self { wiki: Some(Wiki { base, folder }), uploads: None }
    }

    /// Where the target of a link or picture leads.
    pub(crate) fn resolve(&self, target: &str) -> String {
        if let (Some(base), Some(rest)) = (self.uploads, target.strip_prefix("/uploads/")) {
            return format!("{base}/{rest}");
        }
        let Some(wiki) = self.wiki else { return target.to_owned() };
        if target.is_empty() || target.starts_with(['#', '?']) || is_address(target) {
            return target.to_owned();
        }
        let (path, rest) = split_rest(target);
        wiki.at(path, rest)
    }

    /// Where `[[target]]` leads: a page by its name.
    pub(crate) fn page(&self, target: &str) -> String {
        let Some(wiki) = self.wiki else { return target.to_owned() };
        if is_address(target) || target.starts_with('#') {
            return target.to_owned();
        }
        let (path, rest) = split_rest(target);
        let slug = path.split_whitespace().collect::<Vec<_>>().join("-");
        wiki.at(&slug, rest)
    }
}

impl Wiki<'_> {
    /// `/page` and `page` are looked for from the top, `./page`, `../page` and files beside the text; attachments lie at
    /// the top.
    fn at(&self, path: &str, rest: &str) -> String {
        let beside = path.starts_with("./") || path.starts_with("../") || is_file(path);
        let from = if beside && !path.starts_with('/') { self.folder } else { "" };
        let mut parts: Vec<&str> = Vec::new();
        for part in from.split('/').chain(path.split('/')) {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let path = parts.join("/");
        format!("{}/{}{rest}", self.base, utf8_percent_encode(&path, UNSAFE))
    }
}

/// The path of a link, and its query and fragment.
fn split_rest(target: &str) -> (&str, &str) {
    target.split_at(target.find(['#', '?']).unwrap_or(target.len()))
}

/// Whether a link says all by itself: it has a scheme, or begins with a host.
fn is_address(target: &str) -> bool {
    let end = target
        .find(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '+' | '-' | '.'));
    target.starts_with("//") || end.is_some_and(|end| end > 0 && target[end..].starts_with(':'))
}

/// Whether a path names a file, rather than a page without its ending.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let short = (1..=8).contains(&ending.len());
    let plain = ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let numbers = ending.bytes().all(|byte| byte.is_ascii_digit());
    short && plain && !numbers && !path.trim_start_matches('/').starts_with("uploads/")
}

#[cfg(test)]
mod tests {
    use super::Links;

    #[test]
    fn links_inside_of_a_wiki_lead_to_its_pages_and_files() {
        let links = Links::of_wiki("/a/b/-/wikis", "guide");
        for (target, leads) in [
            ("home", "/a/b/-/wikis/home"),
            ("/home", "/a/b/-/wikis/home"),
            ("./setup", "/a/b/-/wikis/guide/setup"),
            ("../other#top", "/a/b/-/wikis/other#top"),
            ("../../../../x", "/a/b/-/wikis/x"),
            ("plan.pdf", "/a/b/-/wikis/guide/plan.pdf"),
            ("release-1.2", "/a/b/-/wikis/release-1.2"),
            ("uploads/0123/p.png", "/a/b/-/wikis/uploads/0123/p.png"),
            ("two words", "/a/b/-/wikis/two%20words"),
            ("#here", "#here"),
            ("https://example.com/x", "https://example.com/x"),
            ("//example.com", "//example.com"),
            ("mailto:a@example.com", "mailto:a@example.com"),
            ("javascript:alert(1)", "javascript:alert(1)"),
        ] {
            assert_eq!(links.resolve(target), leads, "{target}");
        }
        assert_eq!(links.page("Getting started"), "/a/b/-/wikis/Getting-started");
        assert_eq!(Links::none().resolve("home"), "home");
    }
}
