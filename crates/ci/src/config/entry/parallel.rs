//! `parallel`: a job several times, by number or for each combination of some values.

use super::{Entry, Path, Report, fields};
use crate::config::{
    node::{Map, Node},
    options::{Dimensions, MOST_COPIES, Parallel},
};

/// The permitted forms of `parallel`.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ParallelForms {
    NumberOrMatrix,
    MatrixOnly,
}

pub(super) fn parallel(
    report: &mut Report,
    entry: Entry<'_>,
    allowed: ParallelForms,
) -> Option<Parallel> {
    match entry.node {
        Node::Int(_) | Node::Float(_) => {
            let number = number(report, entry, allowed)?;
            Some(Parallel { number: Some(number), matrix: None, total: number })
        }
        Node::Map(map) => matrix(report, entry.path, map),
        _ => {
            report.problem(entry.path, "should be an integer or a hash");
            None
        }
    }
}

fn number(report: &mut Report, entry: Entry<'_>, allowed: ParallelForms) -> Option<u64> {
    let mark = report.mark();
    let number = fields::number(entry.node);
    match number {
        None => report.config(entry.path, "must be an integer"),
        Some(number) if number < 1 => {
            report.config(entry.path, "must be greater than or equal to 1");
        }
        Some(number) if u64::try_from(number).is_ok_and(|number| number > MOST_COPIES) => {
            report.config(entry.path, &format!("must be less than or equal to {MOST_COPIES}"));
        }
        Some(_) => {}
    }
    if allowed == ParallelForms::MatrixOnly {
        report.config(entry.path, "cannot use \"parallel: <number>\".");
    }
    number.filter(|_| report.is_clean_since(mark)).and_then(|number| u64::try_from(number).ok())
}

fn matrix(report: &mut Report, path: &Path<'_>, map: &Map) -> Option<Parallel> {
    let mark = report.mark();
    fields::Fields::of(report, path, map).known(&["matrix"]);
    if !map.contains("matrix") {
        report.config(path, "missing required keys: matrix");
    }
    if !report.is_clean_since(mark) {
        return None;
    }
    let path = path.child("matrix");
    let rows = map.present("matrix").and_then(Node::as_list);
    let rows: Option<Vec<&Map>> = rows.and_then(|rows| rows.iter().map(Node::as_map).collect());
    let Some(rows) = rows else {
        report.config(&path, "should be an array of hashes");
        return None;
    };
    let matrix: Vec<Dimensions> =
        rows.iter().filter_map(|row| dimensions(report, &path, row)).collect();
    let total = matrix.iter().fold(0_u64, |sum, row| sum.saturating_add(combinations(row)));
    if total > MOST_COPIES {
        report.config(&path, &format!("generates too many jobs (maximum is {MOST_COPIES})"));
    }
    report.is_clean_since(mark).then_some(Parallel { number: None, matrix: Some(matrix), total })
}

fn combinations(row: &Dimensions) -> u64 {
    let count = |values: &Vec<String>| u64::try_from(values.len()).unwrap_or(u64::MAX);
    row.values().fold(1, |product, values| product.saturating_mul(count(values)))
}

/// One mapping: every value a scalar, or a list of them.
fn dimensions(report: &mut Report, path: &Path<'_>, map: &Map) -> Option<Dimensions> {
    let path = path.child("variables");
    if map.is_empty() {
        report.config(&path, "requires at least 1 items");
        return None;
    }
    let row = map
        .iter()
        .map(|(key, node)| Some((key.to_string(), values(node)?)))
        .collect::<Option<Dimensions>>();
    if row.is_none() {
        report.config(&path, "should be a hash of key value pairs, value can be an array");
    }
    row
}

fn values(node: &Node) -> Option<Vec<String>> {
    match node {
        Node::List(list) if !list.items().is_empty() => {
            list.items().iter().map(Node::scalar).collect()
        }
        node if node.is_blank() && !matches!(node, Node::Bool(_)) => None,
        node => node.scalar().map(|value| vec![value]),
    }
}
