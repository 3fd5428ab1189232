//! Lists that go on at the values of one of their rows: a row that comes or goes between two pages makes the second
//! neither repeat nor miss another.

use crate::{
    Tx,
    listing::{Bind, Conditions, value},
};

/// A value by which rows are ordered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortValue {
    Number(i64),
    Text(String),
}

/// The place of a row in an ordered list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPosition {
    /// Nothing where ids alone order the list, or the row has no value.
    pub value: Option<SortValue>,
    pub id: i64,
}

impl RowPosition {
    /// In a list that ids alone order.
    pub fn of_id(id: i64) -> Self {
        Self { value: None, id }
    }

    pub fn of_number(number: impl Into<Option<i64>>, id: i64) -> Self {
        Self { value: number.into().map(SortValue::Number), id }
    }

    pub fn of_text(text: impl Into<String>, id: i64) -> Self {
        Self { value: Some(SortValue::Text(text.into())), id }
    }
}

/// The part of an ordered list between two of its rows, which may be read from its end. Of no rows: the whole list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListWindow {
    pub after: Option<RowPosition>,
    pub before: Option<RowPosition>,
    pub reversed: bool,
}

/// The window of a whole list.
pub const WHOLE: ListWindow = ListWindow { after: None, before: None, reversed: false };

/// The sort column before the id, as SQL.
#[derive(Clone, Debug)]
enum Leading {
    Nothing,
    Number(String),
    /// Rows without a value come last, whichever way the list runs.
    Optional(String),
    /// As people read names: the name with and without regard to case, and how such a regard is written of `{}`.
    Name {
        folded: String,
        plain: String,
        fold: String,
    },
}

/// The order of a list: by a value, and by ids where that is equal.
#[derive(Clone, Debug)]
pub struct ListOrder {
    leading: Leading,
    descending: bool,
    id: &'static str,
    ids_descend: bool,
}

impl ListOrder {
    fn new(leading: Leading, descending: bool, id: &'static str) -> Self {
        Self { leading, descending, id, ids_descend: descending }
    }

    /// By ids alone.
    pub fn of_ids(id: &'static str, descending: bool) -> Self {
        Self::new(Leading::Nothing, descending, id)
    }

    /// By a number that every row has.
    pub fn of_number(number: impl Into<String>, descending: bool, id: &'static str) -> Self {
        Self::new(Leading::Number(number.into()), descending, id)
    }

    /// By a number that some rows lack; these come last.
    pub fn of_optional(number: impl Into<String>, descending: bool, id: &'static str) -> Self {
        Self::new(Leading::Optional(number.into()), descending, id)
    }

    /// By a name, as people read names.
    pub fn of_name(tx: &Tx<'_>, name: &str, descending: bool, id: &'static str) -> Self {
        let leading = Leading::Name {
            folded: tx.folded(name),
            plain: name.to_owned(),
            fold: tx.folded("{}"),
        };
        Self::new(leading, descending, id)
    }

    /// Which way ids run where all else is equal.
    #[must_use]
    pub fn with_ids(self, descending: bool) -> Self {
        Self { ids_descend: descending, ..self }
    }

    /// What stands after `ORDER BY`.
    pub fn sql(&self, window: &ListWindow) -> String {
        let word = |descending: bool| if descending != window.reversed { "DESC" } else { "ASC" };
        let (direction, ids) = (word(self.descending), word(self.ids_descend));
        let id = self.id;
        match &self.leading {
            Leading::Nothing => format!("{id} {direction}"),
            Leading::Number(number) => format!("{number} {direction}, {id} {ids}"),
            Leading::Optional(number) => {
                let last = if window.reversed { " DESC" } else { "" };
                format!(
                    "CASE WHEN {number} IS NULL THEN 1 ELSE 0 END{last}, {number} {direction}, {id} {ids}"
                )
            }
            Leading::Name { folded, plain, .. } => {
                format!("{folded} {direction}, {plain} {direction}, {id} {ids}")
            }
        }
    }

    /// Leaves out what is not in the window.
    pub fn narrow(&self, all: &mut Conditions, window: &ListWindow) {
        for (position, is_behind) in [(&window.after, true), (&window.before, false)] {
            if let Some(position) = position {
                let condition = self.beyond(all, position, is_behind);
                all.plain(condition);
            }
        }
    }

    /// The condition on rows behind a position, or in front of it. A position of another order is behind nothing.
    fn beyond(&self, all: &mut Conditions, position: &RowPosition, is_behind: bool) -> String {
        let side = |descending: bool| if descending == is_behind { '<' } else { '>' };
        let (beyond, tie) = (side(self.descending), side(self.ids_descend));
        let (id, at) = (self.id, value(position.id));
        let tied = format!("{id} {tie} {at}");
        match (&self.leading, &position.value) {
            (Leading::Nothing, _) => format!("{id} {beyond} {at}"),
            (Leading::Number(number), Some(SortValue::Number(limit))) => {
                let limit = value(limit);
                format!("({number} {beyond}= {limit} AND ({number} {beyond} {limit} OR {tied}))")
            }
            (Leading::Optional(number), Some(SortValue::Number(limit))) => {
                let limit = value(limit);
                let last = if is_behind { format!(" OR {number} IS NULL") } else { String::new() };
                format!("({number} {beyond} {limit} OR ({number} = {limit} AND {tied}){last})")
            }
            (Leading::Optional(number), None) if is_behind => {
                format!("({number} IS NULL AND {tied})")
            }
            (Leading::Optional(number), None) => format!("({number} IS NOT NULL OR {tied})"),
            (Leading::Name { folded, plain, fold }, Some(SortValue::Text(name))) => {
                let name = all.bind(Bind::Word(name.clone()));
                let limit = fold.replace("{}", &name);
                format!(
                    "({folded} {beyond}= {limit} AND ({folded} {beyond} {limit} OR {plain} {beyond} {name} \
                     OR ({plain} = {name} AND {tied})))"
                )
            }
            _ => "1 = 0".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ListOrder, ListWindow, RowPosition};
    use crate::listing::Conditions;

    fn narrowed(order: &ListOrder, window: &ListWindow) -> String {
        let mut all = Conditions::default();
        order.narrow(&mut all, window);
        all.text()
    }

    #[test]
    fn a_list_goes_on_behind_the_values_of_a_row() {
        let behind = |position| ListWindow { after: Some(position), ..ListWindow::default() };
        let before = |position| ListWindow { before: Some(position), ..ListWindow::default() };
        let ids = ListOrder::of_ids("x.id", true);
        assert_eq!(narrowed(&ids, &behind(RowPosition::of_id(7))), "x.id < $(7)");
        assert_eq!(narrowed(&ids, &before(RowPosition::of_id(7))), "x.id > $(7)");
        let numbers = ListOrder::of_number("x.at", false, "x.id").with_ids(true);
        assert_eq!(
            narrowed(&numbers, &behind(RowPosition::of_number(3, 7))),
            "(x.at >= $(3) AND (x.at > $(3) OR x.id < $(7)))"
        );
        let some = ListOrder::of_optional("x.end", true, "x.id");
        assert_eq!(
            narrowed(&some, &behind(RowPosition::of_number(None, 7))),
            "(x.end IS NULL AND x.id < $(7))"
        );
        assert_eq!(
            narrowed(&some, &before(RowPosition::of_number(None, 7))),
            "(x.end IS NOT NULL OR x.id > $(7))"
        );
        assert_eq!(narrowed(&ids, &ListWindow::default()), "");
    }

    #[test]
    fn an_order_that_is_read_from_its_end_runs_the_other_way() {
        let back = ListWindow { reversed: true, ..ListWindow::default() };
        let some = ListOrder::of_optional("x.end", true, "x.id");
        assert_eq!(
            some.sql(&back),
            "CASE WHEN x.end IS NULL THEN 1 ELSE 0 END DESC, x.end ASC, x.id ASC"
        );
        assert_eq!(ListOrder::of_ids("x.id", false).sql(&back), "x.id DESC");
        assert_eq!(ListOrder::of_ids("x.id", false).sql(&ListWindow::default()), "x.id ASC");
    }
}
