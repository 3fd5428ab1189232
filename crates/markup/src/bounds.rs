//! Size limits of a text, beyond which it is shown without markup.

/// Bytes of a text.
pub(crate) const LONGEST: usize = 2 << 20;
/// Elements inside of elements. Some steps of the sanitiser look at all that are open.
pub(crate) const DEEPEST: usize = 100;
/// Pieces that a text falls into: a page of prose has one for every dozen bytes.
pub(crate) const MOST_PIECES: usize = 250_000;
/// Steps of reading Markdown, in units of 256: lines, inlines and nodes.
pub(crate) const MOST_STEPS: u32 = 16_000;
/// Bytes of HTML before it is sanitised.
pub(crate) const LONGEST_HTML: usize = 8 << 20;
/// Headings that readers can be sent to.
pub(crate) const MOST_ANCHORS: usize = 2_000;
/// Tags of HTML inside of Markdown.
pub(crate) const MOST_TAGS: usize = 5_000;
/// Bytes of one such tag: its attributes are compared with one another.
pub(crate) const LONGEST_TAG: usize = 2_000;
/// Lists inside of lists, in the languages that we read ourselves.
pub(crate) const DEEPEST_LIST: usize = 20;
