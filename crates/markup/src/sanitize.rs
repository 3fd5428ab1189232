//! The HTML elements and attributes that rendered text may have.

use std::{borrow::Cow, sync::LazyLock};

use ammonia::Builder;

/// Names of places inside of a page begin so, and cannot be mistaken for those of the page around it.
const PREFIX: &str = "user-content-";

const PLACES: [&str; 9] = ["a", "h1", "h2", "h3", "h4", "h5", "h6", "li", "sup"];

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    builder
        .add_tags(["input", "section", "figure", "figcaption"])
        .add_tag_attributes("input", ["checked"])
        .add_tag_attribute_values("input", "type", ["checkbox"])
        // A box that nobody can tick, and no other kind of field.
        .set_tag_attribute_value("input", "type", "checkbox")
        .set_tag_attribute_value("input", "disabled", "")
        .add_tag_attributes(
            "a",
            ["aria-hidden", "aria-label", "data-footnote-ref", "data-footnote-backref"],
        )
        .add_tag_attributes("section", ["data-footnotes"])
        .add_tag_attributes("details", ["open"])
        .add_tag_attributes("div", ["align"])
        .add_tag_attributes("p", ["align"])
        .add_tag_attributes("td", ["align"])
        .add_tag_attributes("th", ["align"])
        .add_allowed_classes("a", ["anchor", "footnote-ref", "footnote-backref"])
        .add_allowed_classes("sup", ["footnote-ref"])
        .add_allowed_classes("section", ["footnotes"])
        .add_allowed_classes("ul", ["task-list", "contains-task-list"])
        .add_allowed_classes("li", ["task-list-item"])
        .add_allowed_classes("input", ["task-list-item-checkbox"])
        .add_allowed_classes("div", ["admonition"])
        .add_tag_attributes("pre", ["lang"])
        .id_prefix(Some(PREFIX))
        .link_rel(Some("nofollow noreferrer noopener"))
        .attribute_filter(|_, attribute, value| match attribute {
            "href" => Some(within_page(value)),
            _ => Some(value.into()),
        });
    for place in PLACES {
        builder.add_tag_attributes(place, ["id"]);
    }
    builder
});

/// A link to a place of the same page follows the place's name.
fn within_page(target: &str) -> Cow<'_, str> {
    match target.strip_prefix('#') {
        Some(place) if !place.is_empty() && !place.starts_with(PREFIX) => {
            format!("#{PREFIX}{place}").into()
        }
        _ => target.into(),
    }
}

/// Leaves nothing that could act on a reader's behalf.
pub(crate) fn clean(html: &str) -> String {
    CLEANER.clean(html).to_string()
}
