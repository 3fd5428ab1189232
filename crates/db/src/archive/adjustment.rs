//! Adjustment of rows that earlier versions wrote: whatever goes into an archive can be taken out of it again.

use serde_json::{Number, Value};

use super::{
    ArchiveRow, Column, Field, Flaw, Relation,
    cells::{first_pass, value_flaw},
};

/// A row as imports take it: numbers come within their bounds, texts lose what is too long, and words that are not valid are
/// left out where a row need not have them.
///
/// # Errors
/// The first flaw where that does not help.
pub(super) fn importable(relation: &'static Relation, row: ArchiveRow) -> Result<ArchiveRow, Flaw> {
    let check = |row: &ArchiveRow| first_pass(relation, row, &mut Vec::new());
    if check(&row).is_ok() {
        return Ok(row);
    }
    let mut row = row;
    for column in relation.columns {
        let Some(value) = row.get_mut(column.name).filter(|value| !value.is_null()) else {
            continue;
        };
        if value_flaw(column.field, value).is_some() {
            *value = near(column, value);
        }
    }
    check(&row).map(|()| row)
}

/// The value nearest to one that a column does not have.
fn near(column: &Column, value: &Value) -> Value {
    match column.field {
        Field::Text(most) => match value.as_str() {
            Some(text) => {
                let kept = text.chars().filter(|sign| *sign != '\0').take(most);
                Value::String(kept.collect())
            }
            None => Value::Null,
        },
        Field::Number(least, most) => {
            value.as_i64().map_or(Value::Null, |number| number.clamp(least, most).into())
        }
        Field::Decimal(least, most) => {
            let number = value.as_f64().map(|number| number.clamp(least, most));
            number.and_then(Number::from_f64).map_or(Value::Null, Value::Number)
        }
        Field::Choice(_) | Field::Word(_) if !column.is_required => Value::Null,
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Column, Field, Relation, importable};

    static ROWS: Relation = Relation {
        name: "rows",
        table: "rows",
        scope: "project_id = $1",
        key: &["id"],
        columns: &[
            Column::home("project_id"),
            Column::new("title", Field::Text(3)),
            Column::number("attempt", 0, 9),
            Column::decimal("coverage", -5.0, 5.0).optional(),
            Column::choice("ref", |word| word == "main"),
            Column::choice("mode", |word| word == "fast").optional(),
            Column::level("level", 10, 40).optional(),
        ],
        signed: None,
    };

    fn exported(change: &Value) -> Option<Value> {
        let mut row = json!({ "id": 1, "title": "tea", "attempt": 1, "coverage": 1.5, "ref": "main",
                              "mode": "fast", "level": 30 });
        let row = row.as_object_mut().unwrap();
        row.extend(change.as_object().unwrap().clone());
        let row = importable(&ROWS, row.clone()).ok()?;
        let names = change.as_object().unwrap().keys();
        Some(names.map(|name| (name.clone(), row[name].clone())).collect())
    }

    #[test]
    fn what_an_import_would_refuse_comes_near_to_what_it_was_or_is_left_out() {
        for (before, after) in [
            (json!({ "coverage": null }), json!({ "coverage": null })),
            (json!({ "title": "teapot" }), json!({ "title": "tea" })),
            (json!({ "title": "t\0e" }), json!({ "title": "te" })),
            (json!({ "attempt": 10 }), json!({ "attempt": 9 })),
            (json!({ "attempt": -1 }), json!({ "attempt": 0 })),
            (json!({ "coverage": 1e300 }), json!({ "coverage": 5.0 })),
            (json!({ "coverage": "NaN" }), json!({ "coverage": null })),
            (json!({ "mode": "slow" }), json!({ "mode": null })),
        ] {
            assert_eq!(exported(&before), Some(after), "{before}");
        }
        for gone in [json!({ "ref": "a b" }), json!({ "level": 60 }), json!({ "attempt": "x" })] {
            assert_eq!(exported(&gone), None, "{gone}");
        }
    }
}
