//! The tree of a condition. A comparison binds tighter than `&&`, and that tighter than `||`.

use super::lexer::{Comparison, Token};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Or(Box<Tree>, Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Compare(Comparison, Box<Tree>, Box<Tree>),
    Variable(String),
    Text(String),
    Pattern(String),
    Bool(bool),
    Null,
}

/// The tree of all the tokens; `None` when they do not make one.
pub(super) fn tree(tokens: Vec<Token>) -> Option<Tree> {
    let mut parser = Parser { tokens: tokens.into_iter().peekable() };
    let tree = parser.or()?;
    parser.tokens.next().is_none().then_some(tree)
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
}

impl Parser {
    fn takes(&mut self, token: &Token) -> bool {
        self.tokens.next_if_eq(token).is_some()
    }

    fn or(&mut self) -> Option<Tree> {
        let mut left = self.and()?;
        while self.takes(&Token::Or) {
            left = Tree::Or(Box::new(left), Box::new(self.and()?));
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Tree> {
        let mut left = self.comparison()?;
        while self.takes(&Token::And) {
            left = Tree::And(Box::new(left), Box::new(self.comparison()?));
        }
        Some(left)
    }

    fn comparison(&mut self) -> Option<Tree> {
        let left = self.value()?;
        let Some(Token::Comparison(comparison)) =
            self.tokens.next_if(|token| matches!(token, Token::Comparison(_)))
        else {
            return Some(left);
        };
        Some(Tree::Compare(comparison, Box::new(left), Box::new(self.value()?)))
    }

    fn value(&mut self) -> Option<Tree> {
        Some(match self.tokens.next()? {
            Token::Open => {
                let inner = self.or()?;
                return self.takes(&Token::Close).then_some(inner);
            }
            Token::Variable(name) => Tree::Variable(name),
            Token::Text(text) => Tree::Text(text),
            Token::Pattern(literal) => Tree::Pattern(literal),
            Token::Bool(value) => Tree::Bool(value),
            Token::Null => Tree::Null,
            Token::Close | Token::Comparison(_) | Token::And | Token::Or => return None,
        })
    }
}
