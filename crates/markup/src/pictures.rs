//! Pictures from elsewhere, fetched by way of another address so that nobody there learns who looks.

use crate::{names::unescaped, plain::push_escaped_html};

/// The same HTML with other addresses of pictures, where `find` has one. The HTML is what [`render`](crate::render) made: its
/// attributes are quoted.
pub fn with_pictures(html: &str, find: impl Fn(&str) -> Option<String>) -> String {
    const TAG: &str = "<img ";
    const SOURCE: &str = "src=\"";
    let mut shown = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(TAG) {
        let (before, tag) = rest.split_at(at + TAG.len());
        shown.push_str(before);
        rest = tag;
        let Some(source) = attribute(rest, SOURCE) else { continue };
        let (before, value) = rest.split_at(source);
        let Some(end) = value.find('"') else { continue };
        let (address, after) = value.split_at(end);
        shown.push_str(before);
        match find(&unescaped(address)) {
            Some(other) => push_escaped_html(&other, &mut shown),
            None => shown.push_str(address),
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// Where the value of an attribute begins, in a tag whose name is behind us.
fn attribute(tag: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = tag.get(at..)?;
        let start = rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        if rest.starts_with('>') || rest.is_empty() {
            return None;
        }
        if rest.starts_with(name) {
            return Some(at + start + name.len());
        }
        let quote = rest.find('"')?;
        let end = rest.get(quote + 1..)?.find('"')?;
        at += start + quote + end + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::with_pictures;

    #[test]
    fn only_the_addresses_of_pictures_change() {
        let html = "<p>src=\"a\" <img alt=\"src=&quot;x\" src=\"http://a/?b&amp;c\"> <a href=\"http://a\">a</a></p>";
        let shown = with_pictures(html, |address| Some(format!("[{address}]")));
        let wanted = "<p>src=\"a\" <img alt=\"src=&quot;x\" src=\"[http://a/?b&amp;c]\"> <a href=\"http://a\">a</a></p>";
        assert_eq!(shown, wanted);
        assert_eq!(with_pictures(html, |_| None), html);
        for odd in ["<img ", "<img alt=\"", "<img src=\"x", "<img >", "<img alt>src=\"x\""] {
            assert_eq!(with_pictures(odd, |_| Some("y".to_owned())), odd);
        }
    }
}
