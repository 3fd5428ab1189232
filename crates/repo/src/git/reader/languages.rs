//! The languages of a project, by the names of its files.

use std::collections::{BTreeMap, HashMap};

use bstr::ByteSlice as _;

use super::{Reader, diff::changes::Side, tree::TreePage};
use crate::git::{Deadline, FileMode, Oid, Result, TreePath};

/// Language, endings, and whole file names. Where an ending belongs to several, the commonest has it.
const LANGUAGES: &[(&str, &[&str], &[&str])] = &[
    ("ABAP", &["abap"], &[]),
    ("ActionScript", &["as"], &[]),
    ("Ada", &["adb", "ads", "ada"], &[]),
    ("Agda", &["agda"], &[]),
    ("ANTLR", &["g4"], &[]),
    ("Apex", &["cls", "trigger"], &[]),
    ("AppleScript", &["applescript"], &[]),
    ("Assembly", &["asm", "s", "nasm"], &[]),
    ("Astro", &["astro"], &[]),
    ("Awk", &["awk", "gawk", "mawk"], &[]),
    ("Ballerina", &["bal"], &[]),
    ("Batchfile", &["bat", "cmd"], &[]),
    ("Bicep", &["bicep"], &[]),
    ("Blade", &["blade.php"], &[]),
    ("C", &["c", "h"], &[]),
    ("C#", &["cs", "csx"], &[]),
    ("C++", &["cpp", "cc", "cxx", "hpp", "hh", "hxx", "c++", "ipp", "inl", "tpp"], &[]),
    ("CMake", &["cmake"], &["CMakeLists.txt"]),
    ("COBOL", &["cob", "cbl", "cpy"], &[]),
    ("CSS", &["css"], &[]),
    ("Cap'n Proto", &["capnp"], &[]),
    ("Clojure", &["clj", "cljs", "cljc", "edn"], &[]),
    ("CoffeeScript", &["coffee"], &["Cakefile"]),
    ("Common Lisp", &["lisp", "lsp", "asd"], &[]),
    ("Crystal", &["cr"], &[]),
    ("Cuda", &["cu", "cuh"], &[]),
    ("Cython", &["pyx", "pxd", "pxi"], &[]),
    ("D", &["d", "di"], &[]),
    ("Dart", &["dart"], &[]),
    ("Dhall", &["dhall"], &[]),
    ("Dockerfile", &["dockerfile"], &["Dockerfile", "Containerfile"]),
    ("EJS", &["ejs"], &[]),
    ("Elixir", &["ex", "exs"], &[]),
    ("Elm", &["elm"], &[]),
    ("Emacs Lisp", &["el"], &[]),
    ("Erlang", &["erl", "hrl"], &["rebar.config"]),
    ("F#", &["fs", "fsi", "fsx"], &[]),
    ("Fennel", &["fnl"], &[]),
    ("Forth", &["fth", "4th"], &[]),
    ("Fortran", &["f", "for", "f90", "f95", "f03", "f08"], &[]),
    ("GDScript", &["gd"], &[]),
    ("GLSL", &["glsl", "vert", "frag", "geom"], &[]),
    ("Gherkin", &["feature"], &[]),
    ("Gleam", &["gleam"], &[]),
    ("Go", &["go"], &[]),
    ("Groovy", &["groovy", "gradle", "gvy"], &["Jenkinsfile"]),
    ("HCL", &["hcl", "tf", "tfvars"], &[]),
    ("HLSL", &["hlsl", "fx"], &[]),
    ("HTML", &["html", "htm", "xhtml"], &[]),
    ("HTML+ERB", &["erb", "html.erb"], &[]),
    ("Hack", &["hack"], &[]),
    ("Haml", &["haml"], &[]),
    ("Handlebars", &["hbs", "handlebars"], &[]),
    ("Haskell", &["hs", "hsc"], &[]),
    ("Haxe", &["hx"], &[]),
    ("IDL", &["pro"], &[]),
    ("Idris", &["idr"], &[]),
    ("Inno Setup", &["iss"], &[]),
    ("Java", &["java"], &[]),
    ("JavaScript", &["js", "mjs", "cjs", "jsx"], &["Jakefile"]),
    ("Jinja", &["j2", "jinja", "jinja2"], &[]),
    ("Jsonnet", &["jsonnet", "libsonnet"], &[]),
    ("Julia", &["jl"], &[]),
    ("Jupyter Notebook", &["ipynb"], &[]),
    ("Just", &["just"], &["justfile", "Justfile"]),
    ("Kotlin", &["kt", "kts"], &[]),
    ("LLVM", &["ll"], &[]),
    ("Lean", &["lean"], &[]),
    ("Less", &["less"], &[]),
    ("Lex", &["l", "lex"], &[]),
    ("Liquid", &["liquid"], &[]),
    ("Lua", &["lua"], &[]),
    ("M4", &["m4"], &["configure.ac"]),
    ("MATLAB", &["matlab"], &[]),
    ("Makefile", &["mk", "mak"], &["Makefile", "makefile", "GNUmakefile"]),
    ("Mako", &["mako"], &[]),
    ("Meson", &[], &["meson.build", "meson_options.txt"]),
    ("Mustache", &["mustache"], &[]),
    ("NSIS", &["nsi", "nsh"], &[]),
    ("Nim", &["nim", "nims"], &[]),
    ("Nix", &["nix"], &[]),
    ("Nunjucks", &["njk"], &[]),
    ("OCaml", &["ml", "mli"], &[]),
    ("Objective-C", &["m"], &[]),
    ("Objective-C++", &["mm"], &[]),
    ("Odin", &["odin"], &[]),
    ("Open Policy Agent", &["rego"], &[]),
    ("OpenSCAD", &["scad"], &[]),
    ("PHP", &["php", "phtml"], &[]),
    ("PLSQL", &["pls", "pkb", "pks", "plsql"], &[]),
    ("PLpgSQL", &["pgsql"], &[]),
    ("Pascal", &["pas", "pp", "dpr", "lpr"], &[]),
    ("Perl", &["pl", "pm", "perl", "t"], &[]),
    ("PowerShell", &["ps1", "psm1", "psd1"], &[]),
    ("Procfile", &[], &["Procfile"]),
    ("Prolog", &["prolog", "plt"], &[]),
    ("Protocol Buffer", &["proto"], &[]),
    ("Pug", &["pug", "jade"], &[]),
    ("Puppet", &["epp"], &[]),
    ("PureScript", &["purs"], &[]),
    ("Python", &["py", "pyi", "pyw"], &["SConstruct", "SConscript", "wscript"]),
    ("QML", &["qml"], &[]),
    ("R", &["r"], &[]),
    ("Racket", &["rkt"], &[]),
    ("Raku", &["raku", "rakumod", "p6"], &[]),
    ("ReScript", &["res", "resi"], &[]),
    ("Roff", &["1", "2", "3", "5", "7", "8", "man"], &[]),
    (
        "Ruby",
        &["rb", "rake", "gemspec", "ru"],
        &["Gemfile", "Rakefile", "Podfile", "Vagrantfile", "Guardfile", "Fastfile"],
    ),
    ("Rust", &["rs"], &[]),
    ("SCSS", &["scss"], &[]),
    ("Sass", &["sass"], &[]),
    ("Scala", &["scala", "sc", "sbt"], &[]),
    ("Scheme", &["scm", "ss", "sld"], &[]),
    (
        "Shell",
        &["sh", "bash", "zsh", "ksh", "bats"],
        &[".bashrc", ".zshrc", ".profile", "PKGBUILD"],
    ),
    ("Slim", &["slim"], &[]),
    ("Smalltalk", &["st"], &[]),
    ("Smarty", &["tpl"], &[]),
    ("Solidity", &["sol"], &[]),
    ("Standard ML", &["sml", "sig"], &[]),
    ("Starlark", &["bzl", "star"], &["BUILD", "BUILD.bazel", "WORKSPACE", "Tiltfile"]),
    ("Stylus", &["styl"], &[]),
    ("Svelte", &["svelte"], &[]),
    ("Swift", &["swift"], &[]),
    ("SystemVerilog", &["sv", "svh"], &[]),
    ("TSQL", &["tsql"], &[]),
    ("Tcl", &["tcl", "tk"], &[]),
    ("TeX", &["tex", "sty", "ltx"], &[]),
    ("Thrift", &["thrift"], &[]),
    ("TypeScript", &["ts", "tsx", "mts", "cts"], &[]),
    ("Twig", &["twig"], &[]),
    ("V", &["vsh"], &[]),
    ("VHDL", &["vhd", "vhdl"], &[]),
    ("Vala", &["vala", "vapi"], &[]),
    ("Verilog", &["v", "vh"], &[]),
    ("Vim Script", &["vim"], &[".vimrc"]),
    ("Visual Basic .NET", &["vb"], &[]),
    ("Vue", &["vue"], &[]),
    ("WGSL", &["wgsl"], &[]),
    ("WebAssembly", &["wat", "wast"], &[]),
    ("XSLT", &["xsl", "xslt"], &[]),
    ("Yacc", &["y", "yacc"], &[]),
    ("Zig", &["zig"], &[]),
];

/// Folders whose content others wrote, or that explains rather than works.
const SKIPPED_FOLDERS: &[&str] = &[
    "vendor",
    "vendors",
    "node_modules",
    "bower_components",
    "third_party",
    "third-party",
    "thirdparty",
    "external",
    "externals",
    "dist",
    "docs",
    "doc",
    "Documentation",
    "documentation",
    "examples",
    "samples",
    "demos",
    "fixtures",
    "testdata",
    "Godeps",
    ".yarn",
    "Pods",
    "Carthage",
    "gradle",
];

/// Endings of files that programs write.
const GENERATED: &[&str] = &[
    ".min.js",
    ".min.css",
    ".js.map",
    ".css.map",
    ".pb.go",
    ".pb.h",
    ".pb.cc",
    "_pb2.py",
    "_pb2_grpc.py",
    ".g.dart",
    ".freezed.dart",
    ".designer.cs",
    ".Designer.cs",
    ".generated.cs",
    ".bundle.js",
];

impl Reader {
    /// Bytes by language, the most first.
    pub fn languages(&self, at: Oid, deadline: Deadline) -> Result<Vec<(&'static str, u64)>> {
        let mut totals: HashMap<&'static str, u64> = HashMap::new();
        for entry in self.list(at, &TreePath::ROOT, true, TreePage::default())? {
            deadline.check()?;
            if matches!(entry.mode, FileMode::File | FileMode::Executable)
                && let Some(language) = language_of(&entry.path)
            {
                *totals.entry(language).or_default() += self.blob_info(entry.id)?.size;
            }
        }
        let mut totals: Vec<_> = totals.into_iter().filter(|(_, size)| *size > 0).collect();
        totals.sort_by(|(one, most), (other, least)| least.cmp(most).then_with(|| one.cmp(other)));
        Ok(totals)
    }

    /// How many more bytes of each language there are at `to` than at `from`.
    pub fn language_changes(
        &self,
        from: Oid,
        to: Oid,
        deadline: Deadline,
    ) -> Result<Vec<(&'static str, i64)>> {
        let mut more: BTreeMap<&'static str, i64> = BTreeMap::new();
        for change in self.file_changes(Some(from), to, deadline)? {
            let Some(language) = language_of(&change.path) else { continue };
            deadline.check()?;
            let total = more.entry(language).or_default();
            *total += self.counted(change.new)? - self.counted(change.old)?;
        }
        Ok(more.into_iter().filter(|(_, bytes)| *bytes != 0).collect())
    }

    /// The bytes that one side of a change counts for.
    fn counted(&self, side: Option<Side>) -> Result<i64> {
        match side {
            Some(Side { mode: FileMode::File | FileMode::Executable, id }) => {
                Ok(i64::try_from(self.header(id)?.1).unwrap_or(i64::MAX))
            }
            _ => Ok(0),
        }
    }
}

/// The language of a file that counts; `None` for data, prose, and what others or programs wrote.
pub fn language_of(path: &TreePath) -> Option<&'static str> {
    let skipped = |part: &bstr::BStr| SKIPPED_FOLDERS.iter().any(|folder| part == folder);
    let name = path.name().to_str().ok()?;
    if path.parent().parts().any(skipped) || GENERATED.iter().any(|ending| name.ends_with(ending)) {
        return None;
    }
    let by_name = LANGUAGES.iter().find(|(_, _, names)| names.contains(&name));
    let ending_of = |language: &&(&'static str, &[&str], &[&str])| {
        language.1.iter().any(|ending| has_ending(name, ending))
    };
    // `x.html.erb` is template, not Ruby: the longest ending decides, and the table has those first.
    by_name.or_else(|| LANGUAGES.iter().find(ending_of)).map(|(language, ..)| *language)
}

fn has_ending(name: &str, ending: &str) -> bool {
    let Some(at) = name.len().checked_sub(ending.len() + 1) else { return false };
    at > 0
        && name.is_char_boundary(at)
        && name[at..].strip_prefix('.').is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::{LANGUAGES, language_of};
    use crate::git::TreePath;

    #[test]
    fn names_tell_languages() {
        for (path, expected) in [
            ("src/main.rs", Some("Rust")),
            ("a/b.blade.php", Some("Blade")),
            ("index.PHP", Some("PHP")),
            ("x.html.erb", Some("HTML+ERB")),
            ("Makefile", Some("Makefile")),
            ("lib/Gemfile", Some("Ruby")),
            ("README.md", None),
            ("data.json", None),
            ("vendor/x.go", None),
            ("web/node_modules/y/index.js", None),
            ("app.min.js", None),
            (".rs", None),
            ("rs", None),
        ] {
            assert_eq!(language_of(&TreePath::new(path).unwrap()), expected, "{path}");
        }
    }

    #[test]
    fn no_ending_belongs_to_two_languages() {
        let mut endings: Vec<_> = LANGUAGES.iter().flat_map(|(_, endings, _)| *endings).collect();
        endings.sort_unstable();
        let count = endings.len();
        endings.dedup();
        assert_eq!(endings.len(), count);
    }
}
