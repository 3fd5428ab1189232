//! The columns of a table in an archive.

use super::ArchiveRow;

/// Characters of a long text, such as a description.
const LONG: usize = 1 << 20;
/// Largest number of what is counted.
const MOST: i64 = 1 << 40;

/// The type of a column's values.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// The project or group that the archive is of.
    Home,
    /// At most so many characters.
    Text(usize),
    /// One of some words.
    Choice(fn(&str) -> bool),
    /// A word, with the one that is written for it; nothing for words that are not valid.
    Word(fn(&str) -> Option<&'static str>),
    /// The kind of item that another column names by its id: kinds, and the relations that they mean.
    Kind(&'static [(&'static str, &'static str)]),
    /// The id of an item whose kind the named column has.
    Item(&'static str),
    /// Between the two, both included.
    Number(i64, i64),
    /// The number of an access level between the two, both included.
    Level(i64, i64),
    /// A number with digits after the point, between the two, both included.
    Decimal(f64, f64),
    Flag,
    Moment,
    /// Whoever imports stands for authors without an account.
    Author,
    /// As an author, but a person where the named column has a word for what nobody does for somebody else.
    Doer(&'static str, fn(&str) -> bool),
    /// Rows about people without an account are left out, or do not name them where they need not.
    Person,
    /// The id of a row of this relation.
    Row(&'static str),
    /// The id of the row itself, which an earlier relation of the table has: the other columns are added to it. For rows
    /// that name others of their own table, which may come later. No column beside it may be null.
    Itself(&'static str),
    /// A value in SQL that all rows get, and that archives do not hold.
    Fixed(&'static str),
    /// A text that follows from the other values of the row, and that archives do not hold.
    Derived(fn(&ArchiveRow) -> Option<String>),
}

#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    pub field: Field,
    pub is_required: bool,
    /// Whether a row is left out that names something here which is not there, though it may name nothing.
    pub is_strict: bool,
    /// Whether the id 0 says that it names nothing, or somebody who is nowhere known.
    pub may_be_zero: bool,
    /// What an archive gets instead of the value of the column, in SQL.
    pub reading: Option<&'static str>,
    /// The column that has a value where this one has none, and none where this one has a value.
    pub alternative: Option<&'static str>,
}

/// The archived columns of one table.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// The name in archives.
    pub name: &'static str,
    pub table: &'static str,
    /// Which rows belong to the project or group `$1`.
    pub scope: &'static str,
    /// Columns that name a row and order rows: `id`, or all of the primary key.
    pub key: &'static [&'static str],
    pub columns: &'static [Column],
    /// The text that says who wrote it where the author has no account.
    pub signed: Option<&'static str>,
}

impl Relation {
    /// Whether other rows may name its rows by an id.
    pub fn has_id(&self) -> bool {
        self.key == ["id"]
    }

    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Whether it adds columns to rows that are there already.
    pub fn is_addition(&self) -> bool {
        self.columns.iter().any(|column| matches!(column.field, Field::Itself(_)))
    }
}

impl Column {
    pub const fn new(name: &'static str, field: Field) -> Self {
        Self {
            name,
            field,
            is_required: true,
            is_strict: false,
            may_be_zero: false,
            reading: None,
            alternative: None,
        }
    }

    /// It may be null.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { is_required: false, ..self }
    }

    /// It may be null, and a row that names something which is not there is left out.
    #[must_use]
    pub const fn strict(self) -> Self {
        Self { is_required: false, is_strict: true, ..self }
    }

    /// The id 0 says that it names nothing, or somebody who is nowhere known.
    #[must_use]
    pub const fn or_zero(self) -> Self {
        Self { may_be_zero: true, ..self }
    }

    /// Archives get this value in SQL, which may name all columns of the table.
    #[must_use]
    pub const fn read_as(self, sql: &'static str) -> Self {
        Self { reading: Some(sql), ..self }
    }

    /// A row has a value either here or in another column. One that names something here which is not there is left out.
    #[must_use]
    pub const fn alternative_to(self, other: &'static str) -> Self {
        Self { alternative: Some(other), ..self.strict() }
    }

    pub const fn home(name: &'static str) -> Self {
        Self::new(name, Field::Home)
    }

    /// A line of text.
    pub const fn line(name: &'static str) -> Self {
        Self::new(name, Field::Text(255))
    }

    /// A text of many lines.
    pub const fn text(name: &'static str) -> Self {
        Self::new(name, Field::Text(LONG))
    }

    pub const fn choice(name: &'static str, is_one: fn(&str) -> bool) -> Self {
        Self::new(name, Field::Choice(is_one))
    }

    pub const fn word(name: &'static str, written: fn(&str) -> Option<&'static str>) -> Self {
        Self::new(name, Field::Word(written))
    }

    /// A number that is not negative.
    pub const fn count(name: &'static str) -> Self {
        Self::new(name, Field::Number(0, MOST))
    }

    pub const fn number(name: &'static str, least: i64, most: i64) -> Self {
        Self::new(name, Field::Number(least, most))
    }

    pub const fn level(name: &'static str, least: i64, most: i64) -> Self {
        Self::new(name, Field::Level(least, most))
    }

    pub const fn decimal(name: &'static str, least: f64, most: f64) -> Self {
        Self::new(name, Field::Decimal(least, most))
    }

    pub const fn flag(name: &'static str) -> Self {
        Self::new(name, Field::Flag)
    }

    pub const fn moment(name: &'static str) -> Self {
        Self::new(name, Field::Moment)
    }

    pub const fn author(name: &'static str) -> Self {
        Self::new(name, Field::Author)
    }

    pub const fn doer(name: &'static str, action: &'static str, is_own: fn(&str) -> bool) -> Self {
        Self::new(name, Field::Doer(action, is_own))
    }

    pub const fn person(name: &'static str) -> Self {
        Self::new(name, Field::Person)
    }

    pub const fn row(name: &'static str, relation: &'static str) -> Self {
        Self::new(name, Field::Row(relation))
    }

    /// The id of a row that an earlier relation of the table has.
    pub const fn itself(relation: &'static str) -> Self {
        Self::new("id", Field::Itself(relation))
    }

    pub const fn fixed(name: &'static str, sql: &'static str) -> Self {
        Self::new(name, Field::Fixed(sql))
    }

    pub const fn derived(name: &'static str, derive: fn(&ArchiveRow) -> Option<String>) -> Self {
        Self::new(name, Field::Derived(derive))
    }
}
