//! The attributes of a mapping, each asked for by its type. What does not fit is noted as a problem.

use std::sync::Arc;

use super::{Path, Report, unknown_keys};
use crate::config::{
    duration,
    node::{Map, Node},
};

pub(super) struct Fields<'r, 'a> {
    pub(super) report: &'r mut Report,
    pub(super) path: &'a Path<'a>,
    pub(super) map: &'a Map,
    mark: usize,
}

impl<'r, 'a> Fields<'r, 'a> {
    pub(super) fn of(report: &'r mut Report, path: &'a Path<'a>, map: &'a Map) -> Self {
        let mark = report.mark();
        Self { report, path, map, mark }
    }

    /// Whether nothing was wrong so far.
    pub(super) fn is_clean(&self) -> bool {
        self.report.is_clean_since(self.mark)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.map.present(key)
    }

    pub(super) fn wrong(&mut self, attribute: &str, text: &str) {
        self.report.attribute(self.path, attribute, text);
    }

    pub(super) fn known(&mut self, keys: &[&str]) {
        self.known_of(&[keys]);
    }

    pub(super) fn known_of(&mut self, keys: &[&[&str]]) {
        if let Some(unknown) = unknown_keys(self.map, keys) {
            self.report.config(self.path, &format!("contains unknown keys: {unknown}"));
        }
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let node = self.get(key)?;
        let text = node.as_text().map(str::to_owned);
        if text.is_none() {
            self.wrong(key, "should be a string");
        }
        text
    }

    /// A text that must be there and hold something.
    pub(super) fn required_text(&mut self, key: &str) -> Option<String> {
        let node = self.get(key).unwrap_or(&Node::Null);
        if node.as_text().is_none() {
            self.wrong(key, "should be a string");
        }
        if node.is_blank() {
            self.wrong(key, "can't be blank");
        }
        node.as_text().map(str::to_owned)
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        let node = self.get(key)?;
        let flag = node.as_bool();
        if flag.is_none() {
            self.wrong(key, "should be a boolean value");
        }
        flag
    }

    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let texts = texts(self.get(key)?);
        if texts.is_none() {
            self.wrong(key, "should be an array of strings");
        }
        texts
    }

    /// One text, or several.
    pub(super) fn one_or_more_texts(&mut self, key: &str) -> Option<Vec<String>> {
        let texts = one_or_more_texts(self.get(key)?);
        if texts.is_none() {
            self.wrong(key, "should be an array of strings or a string");
        }
        texts
    }

    /// One of some words; the problem names them in words of its own.
    pub(super) fn choice(&mut self, key: &str, words: &[&str], problem: &str) -> Option<String> {
        let node = self.get(key)?;
        let word = node.as_text().filter(|word| words.contains(word)).map(str::to_owned);
        if word.is_none() {
            self.wrong(key, problem);
        }
        word
    }

    /// One number, or several.
    pub(super) fn numbers(&mut self, key: &str) -> Option<Vec<i64>> {
        let numbers = numbers(self.get(key)?);
        if numbers.is_none() {
            self.wrong(key, "should be an array of integers or an integer");
        }
        numbers
    }

    /// A duration as written, of at most so many seconds.
    pub(super) fn duration(&mut self, key: &str, most: Option<u64>) -> Option<String> {
        let node = self.get(key).unwrap_or(&Node::Null);
        match node.as_text().and_then(duration::seconds) {
            None => self.wrong(key, "should be a duration"),
            Some(seconds) if most.is_some_and(|most| seconds > most) => {
                self.wrong(key, "should not exceed the limit");
            }
            Some(_) => {}
        }
        node.as_text().map(str::to_owned)
    }

    pub(super) fn expression(
        &mut self,
        key: &str,
    ) -> Option<Arc<crate::config::expression::Expression>> {
        let node = self.get(key)?;
        let expression = match node {
            Node::Text(text) => self.report.expression(text),
            _ => None,
        };
        if expression.is_none() {
            self.wrong(key, "invalid expression syntax");
        }
        expression
    }
}

pub(super) fn texts(node: &Node) -> Option<Vec<String>> {
    node.as_list()?.iter().map(|item| item.as_text().map(str::to_owned)).collect()
}

pub(super) fn one_or_more_texts(node: &Node) -> Option<Vec<String>> {
    match node.as_text() {
        Some(text) => Some(vec![text.to_owned()]),
        None => texts(node),
    }
}

pub(super) fn number(node: &Node) -> Option<i64> {
    match node {
        Node::Int(value) => i64::try_from(value.get()).ok(),
        _ => None,
    }
}

fn numbers(node: &Node) -> Option<Vec<i64>> {
    match node.as_list() {
        Some(items) => items.iter().map(number).collect(),
        None => number(node).map(|number| vec![number]),
    }
}
