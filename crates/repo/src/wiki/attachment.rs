//! Files that belong to the pages of a wiki.

use bytes::Bytes;

/// Most characters of a name.
const LONGEST_NAME: usize = 255;

const SHOWN: [&str; 19] = [
    "png", "jpg", "jpeg", "gif", "bmp", "tiff", "ico", "webp", "mp4", "m4v", "mov", "webm", "ogv",
    "mp3", "oga", "ogg", "spx", "wav", "svg",
];

/// A file to be kept, and how pages speak of it.
#[derive(Clone, Debug)]
pub struct Attachment {
    pub name: String,
    /// From the root of the repository.
    pub path: String,
    pub content: Bytes,
}

impl Attachment {
    /// Nobody guesses the folder, so nothing is ever overwritten.
    pub fn new(name: &str, content: impl Into<Bytes>) -> Self {
        let name = plain_name(name);
        let folder = hex::encode(rand::random::<[u8; 16]>());
        Self { path: format!("uploads/{folder}/{name}"), name, content: content.into() }
    }

    /// What a page says to show the file, or to lead to it.
    pub fn markdown(&self) -> String {
        let (stem, ending) = self.name.rsplit_once('.').unwrap_or((&self.name, ""));
        let ending = ending.to_ascii_lowercase();
        let shown = SHOWN.contains(&ending.as_str());
        let words = if shown && ending != "svg" { stem } else { &self.name };
        let mark = if shown { "!" } else { "" };
        format!("{mark}[{}]({})", words.replace(']', "\\]"), self.path)
    }
}

/// The name without what could lead elsewhere.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || ".-+_".contains(letter) { letter } else { '_' }
    };
    let kept: String = last.chars().map(plain).collect();
    if kept.len() <= LONGEST_NAME {
        return kept;
    }
    let ending = kept.rfind('.').map_or("", |at| &kept[at..]);
    // An ending that is most of the name is none.
    let ending = if ending.len() > LONGEST_NAME / 2 { "" } else { ending };
    format!("{}{ending}", &kept[..LONGEST_NAME - ending.len()])
}

#[cfg(test)]
mod tests {
    use super::{Attachment, plain_name};

    #[test]
    fn names_are_made_plain() {
        for (given, kept) in [
            ("plan.png", "plan.png"),
            ("../../etc/passwd", "passwd"),
            ("Grüße an [alle].txt", "Gr__e_an__alle_.txt"),
            ("a+b_c-d.tar.gz", "a+b_c-d.tar.gz"),
        ] {
            assert_eq!(plain_name(given), kept);
        }
        let long = plain_name(&format!("{}.png", "x".repeat(300)));
        assert_eq!((long.len(), &long[250..]), (255, "x.png"));
    }

    #[test]
    fn pictures_films_and_sounds_are_shown_and_the_rest_is_linked() {
        for (name, begins) in [
            ("a.png", "![a](uploads/"),
            ("a.MP4", "![a](uploads/"),
            ("a.ogg", "![a](uploads/"),
            ("a.svg", "![a.svg](uploads/"),
            ("a.pdf", "[a.pdf](uploads/"),
            ("plain", "[plain](uploads/"),
        ] {
            let markdown = Attachment::new(name, "x").markdown();
            assert!(markdown.starts_with(begins), "{markdown}");
        }
    }
}
