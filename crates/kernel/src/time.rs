//! Moments as one number that means and sorts the same on both databases, and the clock they come from.

mod iso;

use std::sync::atomic::{AtomicI64, Ordering};

use diesel::{
    backend::Backend,
    deserialize::{self, FromSql, FromSqlRow},
    expression::AsExpression,
    serialize::{self, Output, ToSql},
    sql_types::BigInt,
};
use time::{
    Date, Duration, OffsetDateTime, PrimitiveDateTime,
    format_description::well_known::{Iso8601, Rfc3339},
    macros::format_description,
};

use self::iso::IsoText;

/// Microseconds of the units in which moments are shown.
const MILLISECOND: i64 = 1_000;
const SECOND: i64 = 1_000 * MILLISECOND;

/// A moment: microseconds since the Unix epoch, UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, AsExpression, FromSqlRow,
)]
#[diesel(sql_type = BigInt)]
pub struct Ts(pub i64);

impl Ts {
    pub fn from_unix(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    pub fn unix(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    pub fn from_datetime(at: OffsetDateTime) -> Self {
        Self(i64::try_from(at.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX))
    }

    /// Midnight UTC at which `date` begins.
    pub fn from_date(date: Date) -> Self {
        Self::from_datetime(date.midnight().assume_utc())
    }

    pub fn datetime(self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    pub fn date(self) -> Date {
        self.datetime().date()
    }

    /// At most [`LATEST`](Self::LATEST).
    pub fn plus(self, span: Duration) -> Self {
        let span = i64::try_from(span.whole_microseconds()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(span).min(Self::LATEST.0))
    }

    /// The last moment that is shown as this one, in milliseconds: a list until a moment that was shown has the row that
    /// showed it. One that is given more finely is meant as it is.
    pub fn end_of_shown(self) -> Self {
        self.end_of(MILLISECOND)
    }

    /// As [`end_of_shown`](Self::end_of_shown), where moments are shown in seconds.
    pub fn end_of_shown_second(self) -> Self {
        self.end_of(SECOND)
    }

    fn end_of(self, unit: i64) -> Self {
        match self.0.rem_euclid(unit) {
            0 => Self(self.0.saturating_add(unit - 1)),
            _ => self,
        }
    }

    /// Whether a thing that was last changed at this moment is no newer than `limit`. Such limits come in whole seconds.
    pub fn ensure_unchanged_since(self, limit: Option<Self>) -> crate::Result<()> {
        match limit {
            Some(limit) if self.unix() > limit.unix() => Err(crate::Error::precondition()),
            _ => Ok(()),
        }
    }

    /// `2022-12-15T09:08:07.123Z`: the one form in which stored moments are sent.
    pub fn iso(self) -> String {
        match IsoText::new(self.0) {
            Some(text) => text.as_str().to_owned(),
            None => self.unusual_iso(),
        }
    }

    /// The same for years that do not have four digits.
    fn unusual_iso(self) -> String {
        let form = format_description!(
            "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z"
        );
        self.datetime().format(&form).unwrap_or_default()
    }

    /// Reads any ISO 8601 form; a bare date is its midnight UTC. Years are those that every program can read again: 1 to 9999.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_any_year(text.trim()).filter(|at| at.is_readable())
    }

    /// The end of the year 9999.
    pub const LATEST: Self = Self(253_402_300_799_999_999);

    /// The beginning of the year 1.
    pub const EARLIEST: Self = Self(-62_135_596_800_000_000);

    /// Whether every program can read it again: of the years from 1 to 9999.
    pub fn is_readable(self) -> bool {
        (Self::EARLIEST..=Self::LATEST).contains(&self)
    }

    fn parse_any_year(text: &str) -> Option<Self> {
        if let Ok(at) = OffsetDateTime::parse(text, &Rfc3339) {
            return Some(Self::from_datetime(at));
        }
        if let Ok(date) = parse_date(text) {
            return Some(Self::from_date(date));
        }
        // `2020-01-01 10:00:00`, a missing offset, `+0100` without its colon, minutes without seconds.
        let text = text.replacen(' ', "T", 1);
        if let Some(at) = parse_iso(&text) {
            return Some(at);
        }
        let (main, offset) = split_offset(&text);
        let main = match main.len() {
            13 => format!("{main}:00:00"),
            16 => format!("{main}:00"),
            _ => main.to_owned(),
        };
        OffsetDateTime::parse(&format!("{main}{offset}"), &Rfc3339).ok().map(Self::from_datetime)
    }
}

/// Forms without separators, weeks, and days of the year.
fn parse_iso(text: &str) -> Option<Ts> {
    let form = &Iso8601::PARSING;
    if let Ok(at) = OffsetDateTime::parse(text, form) {
        return Some(Ts::from_datetime(at));
    }
    if let Ok(at) = PrimitiveDateTime::parse(text, form) {
        return Some(Ts::from_datetime(at.assume_utc()));
    }
    Date::parse(text, form).ok().map(Ts::from_date)
}

fn split_offset(text: &str) -> (&str, String) {
    if let Some(main) = text.strip_suffix(['Z', 'z']) {
        return (main, "Z".to_owned());
    }
    match text.get(10..).and_then(|tail| tail.rfind(['+', '-'])).map(|at| text.split_at(at + 10)) {
        Some((main, offset)) if offset.is_ascii() && !offset.contains(':') && offset.len() == 5 => {
            (main, format!("{}:{}", &offset[..3], &offset[3..]))
        }
        Some((main, offset)) if offset.len() == 3 => (main, format!("{offset}:00")),
        Some((main, offset)) => (main, offset.to_owned()),
        None => (text, "Z".to_owned()),
    }
}

/// Reads `YYYY-MM-DD`.
pub fn parse_date(text: &str) -> Result<Date, time::error::Parse> {
    Date::parse(text, format_description!("[year]-[month]-[day]"))
}

/// Writes `YYYY-MM-DD`.
pub fn date_text(date: Date) -> String {
    date.format(format_description!("[year]-[month]-[day]")).unwrap_or_default()
}

impl serde::Serialize for Ts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match IsoText::new(self.0) {
            Some(text) => serializer.serialize_str(text.as_str()),
            None => serializer.serialize_str(&self.unusual_iso()),
        }
    }
}

impl<DB: Backend> ToSql<BigInt, DB> for Ts
where
    i64: ToSql<BigInt, DB>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
        self.0.to_sql(out)
    }
}

impl<DB: Backend> FromSql<BigInt, DB> for Ts
where
    i64: FromSql<BigInt, DB>,
{
    fn from_sql(raw: DB::RawValue<'_>) -> deserialize::Result<Self> {
        i64::from_sql(raw).map(Ts)
    }
}

/// The source of the current time: the system, or a test.
#[derive(Debug, Default)]
pub struct Clock {
    /// Microseconds; 0 stands for the system's own time.
    fixed: AtomicI64,
}

impl Clock {
    pub fn system() -> Self {
        Self::default()
    }

    pub fn fixed(at: Ts) -> Self {
        Self { fixed: AtomicI64::new(at.0) }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock everybody else takes the time from"
    )]
    pub fn now(&self) -> Ts {
        match self.fixed.load(Ordering::Relaxed) {
            0 => Ts::from_datetime(OffsetDateTime::now_utc()),
            at => Ts(at),
        }
    }

    /// Moves a fixed clock; the system's own clock cannot be moved.
    pub fn advance(&self, span: Duration) {
        let at = self.fixed.load(Ordering::Relaxed);
        if at != 0 {
            self.fixed.store(Ts(at).plus(span).0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ts;

    #[test]
    fn a_moment_is_sent_in_the_same_form_whoever_writes_it() {
        for microseconds in [
            0,
            -1,
            1_671_095_287_123_999,
            1_709_164_800_000_000,
            -62_167_219_200_000_000,
            -62_167_219_200_000_001,
            253_402_300_799_999_999,
            253_402_300_800_000_000,
            i64::MAX,
            i64::MIN,
        ] {
            let at = Ts(microseconds);
            assert_eq!(at.iso(), at.unusual_iso(), "{microseconds}");
        }
        assert_eq!(Ts(1_671_095_287_123_999).iso(), "2022-12-15T09:08:07.123Z");
    }

    #[test]
    fn a_moment_lasts_as_long_as_it_is_shown_alike() {
        for (at, milliseconds, seconds) in [
            (0, 999, 999_999),
            (-1_000, -1, -1_000),
            (2_000, 2_999, 2_000),
            (2_001, 2_001, 2_001),
            (i64::MAX, i64::MAX, i64::MAX),
        ] {
            assert_eq!(Ts(at).end_of_shown(), Ts(milliseconds), "{at}");
            assert_eq!(Ts(at).end_of_shown_second(), Ts(seconds), "{at}");
        }
    }

    #[test]
    fn every_usual_form_of_a_moment_is_read() {
        for text in [
            "2020-02-03T04:05:06Z",
            "2020-02-03T04:05:06.000Z",
            "2020-02-03 04:05:06",
            "2020-02-03T05:05:06+01:00",
            "2020-02-03T05:05:06+0100",
            "2020-02-03T05:05:06+01",
        ] {
            assert_eq!(
                Ts::parse(text).map(Ts::iso).as_deref(),
                Some("2020-02-03T04:05:06.000Z"),
                "{text}"
            );
        }
        assert_eq!(
            Ts::parse("2020-02-03").map(Ts::iso).as_deref(),
            Some("2020-02-03T00:00:00.000Z")
        );
        assert_eq!(
            Ts::parse("2020-02-03T04:05").map(Ts::iso).as_deref(),
            Some("2020-02-03T04:05:00.000Z")
        );
        for (text, same) in [
            ("20200203T040506Z", "2020-02-03T04:05:06.000Z"),
            ("20200203T050506+0100", "2020-02-03T04:05:06.000Z"),
            ("20200203", "2020-02-03T00:00:00.000Z"),
            ("2020-W06-1", "2020-02-03T00:00:00.000Z"),
            ("2020-034", "2020-02-03T00:00:00.000Z"),
            ("2020-034T04:05:06Z", "2020-02-03T04:05:06.000Z"),
        ] {
            assert_eq!(Ts::parse(text).map(Ts::iso).as_deref(), Some(same), "{text}");
        }
        assert_eq!(
            Ts::parse("0001-01-01T00:00:00Z").map(Ts::iso).as_deref(),
            Some("0001-01-01T00:00:00.000Z")
        );
        for text in [
            "0000-12-31T23:59:59Z",
            "0001-01-01T00:00:00+01:00",
            "-0001-01-01T00:00:00Z",
            "-002026-01-01T00:00:00Z",
            "+010000-01-01T00:00:00Z",
            "9999-12-31T23:59:59-01:00",
            "99999-01-01",
        ] {
            assert_eq!(Ts::parse(text), None, "{text}");
        }
        assert_eq!(Ts::parse("yesterday"), None);
        assert_eq!(Ts::parse("12"), None);
        assert_eq!(Ts::parse("2020-02-03T04:05:06+1ä2"), None);
        assert_eq!(Ts::parse("20201303"), None);
        assert_eq!(Ts::parse("2020-13-03"), None);
    }
}
