//! Fields that later versions of the schema brought.

use crate::document::{Directive, Literal, Selection};

/// Leaves out what later versions brought.
pub(super) fn leave_out(selections: &mut Vec<Selection>, version: &[u32]) {
    selections.retain(|selection| !selection.directives().iter().any(|it| is_later(it, version)));
    for selection in selections {
        match selection {
            Selection::Field(field) => leave_out(&mut field.selections, version),
            Selection::Inline(inline) => leave_out(&mut inline.selections, version),
            Selection::Spread(_) => {}
        }
    }
}

fn is_later(directive: &Directive, version: &[u32]) -> bool {
    let wanted = directive.arguments.iter().find(|argument| argument.name == "version");
    match wanted.map(|argument| &argument.value) {
        Some(Literal::Text(wanted)) if directive.name == "gl_introduced" => {
            let numbers = wanted.split('.').map_while(|number| number.parse::<u32>().ok());
            numbers.collect::<Vec<_>>().as_slice() > version
        }
        _ => false,
    }
}
