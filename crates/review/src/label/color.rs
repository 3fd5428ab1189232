//! Colours of labels: `#rrggbb`, `#rgb`, or a name that style sheets know, stored as `#rrggbb`.

use kernel::{Error, Result};

const LIGHT_TEXT: &str = "#FFFFFF";
const DARK_TEXT: &str = "#1F1E24";
/// Of labels that were named without a colour.
pub const FIRST_COLOR: &str = "#6699cc";
/// A background is light when its three parts together are above this.
const LIGHT: u32 = 500;

/// A colour that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Color(String);

impl Color {
    /// # Errors
    /// `BadRequest` where the text is no colour.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        match text.strip_prefix('#') {
            Some(digits) => Self::of_digits(digits),
            None => Self::of_name(text),
        }
        .ok_or_else(|| Error::invalid("color", "must be a valid color code"))
    }

    fn of_digits(digits: &str) -> Option<Self> {
        let hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        match digits.len() {
            6 if hexadecimal => Some(Self(format!("#{digits}"))),
            3 if hexadecimal => Some(Self(
                std::iter::once('#')
                    .chain(digits.chars().flat_map(|digit| [digit, digit]))
                    .collect(),
            )),
            _ => None,
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        let letters = name.bytes().all(|letter| letter.is_ascii_alphabetic());
        // The parser knows digits without their mark, too; no name consists of these letters alone.
        let digits = name.bytes().all(|letter| letter.is_ascii_hexdigit());
        if !letters || digits || name.eq_ignore_ascii_case("transparent") {
            return None;
        }
        let [red, green, blue, _] = csscolorparser::parse(name).ok()?.to_rgba8();
        Some(Self(format!("#{red:02x}{green:02x}{blue:02x}")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The colour in which text on `background` (`#rrggbb`) can be read.
pub fn text_color(background: &str) -> &'static str {
    let part = |from: usize| {
        background.get(from..from + 2).and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let brightness: u32 = [1, 3, 5].into_iter().filter_map(part).sum();
    if brightness > LIGHT { DARK_TEXT } else { LIGHT_TEXT }
}

#[cfg(test)]
mod tests {
    use super::{Color, text_color};

    #[test]
    fn a_colour_is_digits_or_a_name() {
        let read = |text| Color::parse(text).ok().map(|color| color.0);
        assert_eq!(read("#FFAABB").as_deref(), Some("#FFAABB"));
        assert_eq!(read("#fab").as_deref(), Some("#ffaabb"));
        assert_eq!(read("Red").as_deref(), Some("#ff0000"));
        for text in
            ["", "#", "#ffff", "#gggggg", "redd", "rgb(1,2,3)", "ffaabb", "transparent", "#äää"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn text_is_dark_on_light() {
        assert_eq!(text_color("#ffffff"), "#1F1E24");
        assert_eq!(text_color("#ffaabb"), "#1F1E24");
        assert_eq!(text_color("#d9534f"), "#FFFFFF");
        assert_eq!(text_color("#000000"), "#FFFFFF");
    }
}
