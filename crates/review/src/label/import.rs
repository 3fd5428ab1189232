//! Labels that come from another installation, a page at a time.

use std::collections::HashSet;

use db::{Tx, each_backend, error, schema::labels};
use diesel::prelude::*;
use kernel::{Result, ids::ProjectId};

use super::{Color, FIRST_COLOR, LabelFilter, LabelStore as _};
use crate::Home;

/// A label as another installation has it.
#[derive(Clone, Debug, Default)]
pub struct ImportedLabel {
    pub name: String,
    /// Not necessarily one that can be used here.
    pub color: String,
    pub description: Option<String>,
}

/// Writes the labels that a project lacks; returns how many these were.
pub fn insert_labels(tx: &mut Tx<'_>, project: ProjectId, new: &[ImportedLabel]) -> Result<usize> {
    let names: Vec<String> = new.iter().map(|label| label.name.clone()).collect();
    let within = LabelFilter::of(Home::Project(project));
    let known = tx.labels_named(&within, &names)?;
    let mut known: HashSet<String> = known.into_iter().map(|label| label.name).collect();
    let now = tx.now;
    let rows: Vec<_> = new
        .iter()
        .filter(|label| !label.name.is_empty() && known.insert(label.name.clone()))
        .map(|label| {
            let color = Color::parse(&label.color)
                .map_or_else(|_odd| FIRST_COLOR.to_owned(), |color| color.as_str().to_owned());
            (
                labels::project_id.eq(project),
                labels::name.eq(&label.name),
                labels::color.eq(color),
                labels::description.eq(&label.description),
                labels::created_at.eq(now),
                labels::updated_at.eq(now),
            )
        })
        .collect();
    if rows.is_empty() {
        return Ok(0);
    }
    each_backend!(tx, |conn| diesel::insert_into(labels::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("Label")))
}
