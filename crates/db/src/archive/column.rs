//! The columns of a table in an archive.

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
    /// The kind of item that another column names by its id: kinds, and the relations that they mean.
    Kind(&'static [(&'static str, &'static str)]),
    /// The id of an item whose kind the named column has.
    Item(&'static str),
    /// Between the two, both included.
    Number(i64, i64),
    /// The number of an access level between the two, both included.
    Level(i64, i64),
    Flag,
    Moment,
    /// Whoever imports stands for authors without an account.
    Author,
    /// Rows about people without an account are left out, or do not name them where they need not.
    Person,
    /// The id of a row of this relation.
    Row(&'static str),
    /// A value in SQL that all rows get, and that archives do not hold.
    Fixed(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    pub field: Field,
    pub is_required: bool,
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
}

impl Column {
    pub const fn new(name: &'static str, field: Field) -> Self {
        Self { name, field, is_required: true }
    }

    /// It may be null.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { is_required: false, ..self }
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

    pub const fn flag(name: &'static str) -> Self {
        Self::new(name, Field::Flag)
    }

    pub const fn moment(name: &'static str) -> Self {
        Self::new(name, Field::Moment)
    }

    pub const fn author(name: &'static str) -> Self {
        Self::new(name, Field::Author)
    }

    pub const fn person(name: &'static str) -> Self {
        Self::new(name, Field::Person)
    }

    pub const fn row(name: &'static str, relation: &'static str) -> Self {
        Self::new(name, Field::Row(relation))
    }

    pub const fn fixed(name: &'static str, sql: &'static str) -> Self {
        Self::new(name, Field::Fixed(sql))
    }
}
