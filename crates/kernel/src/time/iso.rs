//! The sent form of a moment, written without the formatting machinery: a page of a list has hundreds of them.

use time::OffsetDateTime;

/// The length of `2022-12-15T09:08:07.123Z`.
const LENGTH: usize = 24;

/// A moment as it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct IsoText([u8; LENGTH]);

impl IsoText {
    /// `None` for years that do not have four digits, and for moments that no calendar has.
    pub(super) fn new(microseconds: i64) -> Option<Self> {
        let seconds = microseconds.div_euclid(1_000_000);
        let at = OffsetDateTime::from_unix_timestamp(seconds).ok()?;
        let year = u32::try_from(at.year()).ok().filter(|year| *year <= 9_999)?;
        let millisecond = u32::try_from(microseconds.rem_euclid(1_000_000) / 1_000).ok()?;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        write_digits(&mut text[0..4], year);
        write_digits(&mut text[5..7], u32::from(u8::from(at.month())));
        write_digits(&mut text[8..10], u32::from(at.day()));
        write_digits(&mut text[11..13], u32::from(at.hour()));
        write_digits(&mut text[14..16], u32::from(at.minute()));
        write_digits(&mut text[17..19], u32::from(at.second()));
        write_digits(&mut text[20..23], millisecond);
        Some(Self(text))
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// Fills all places, the last one with the last digit.
fn write_digits(places: &mut [u8], mut number: u32) {
    for place in places.iter_mut().rev() {
        *place = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}
