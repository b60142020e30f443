//! Asks the C compiler for the values of expressions.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A C source file in which expressions may be evaluated.
pub(crate) struct Compiler {
    /// What stands in front of the expressions: includes, declarations.
    pub(crate) preamble: String,
    /// Where includes are looked for before the system's own folders.
    pub(crate) include: Vec<PathBuf>,
    /// A folder for its files, of its own.
    pub(crate) folder: PathBuf,
}

impl Compiler {
    /// The value of each expression; `None` for one that does not compile, for want of a name in it.
    ///
    /// Each is a function on a line of its own. The first pass finds the lines that do not compile, the second runs the
    /// others.
    pub(crate) fn evaluate(&self, expressions: &[String]) -> io::Result<Vec<Option<u64>>> {
        fs::create_dir_all(&self.folder)?;
        let everything = (0..expressions.len()).collect::<Vec<_>>();
        let missing = self.missing(&self.write("names.c", expressions, &everything)?)?;
        let present = everything.into_iter().filter(|index| !missing.contains(index)).collect::<Vec<_>>();
        let mut values = vec![None; expressions.len()];
        for (index, value) in self.run(&self.write("values.c", expressions, &present)?)? {
            values[index] = Some(value);
        }
        Ok(values)
    }

    /// A program that prints the chosen expressions, with their index.
    fn write(&self, name: &str, expressions: &[String], chosen: &[usize]) -> io::Result<PathBuf> {
        let mut text = format!("#include <stddef.h>\n#include <stdio.h>\n{}\n", self.preamble);
        for &index in chosen {
            let expression = &expressions[index];
            write!(
                text,
                "#line {} \"expression\"\nunsigned long long f{index}(void) {{ return (unsigned long long)({expression}); }}\n",
                index + 1
            )
            .expect("a string grows");
        }
        text += "int main(void) {\n";
        for index in chosen {
            writeln!(text, "printf(\"{index} %llu\\n\", f{index}());").expect("a string grows");
        }
        text += "return 0;\n}\n";
        let path = self.folder.join(name);
        fs::write(&path, text)?;
        Ok(path)
    }

    /// The expressions that do not compile.
    fn missing(&self, source: &Path) -> io::Result<BTreeSet<usize>> {
        let done = output(self.cc().arg("-fsyntax-only").arg(source))?;
        let messages = String::from_utf8_lossy(&done.stderr);
        let mut missing = BTreeSet::new();
        for message in messages.lines().filter(|line| line.contains("error:")) {
            let line = message
                .strip_prefix("expression:")
                .and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
            match line {
                Some(line) => missing.insert(line - 1),
                None => return Err(io::Error::other(format!("the headers do not compile: {message}"))),
            };
        }
        Ok(missing)
    }

    fn run(&self, source: &Path) -> io::Result<Vec<(usize, u64)>> {
        let program = source.with_extension("");
        let done = output(self.cc().arg("-o").arg(&program).arg(source))?;
        if !done.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&done.stderr).into_owned()));
        }
        let done = output(&mut Command::new(&program))?;
        String::from_utf8_lossy(&done.stdout)
            .lines()
            .map(|line| {
                let (index, value) = line.split_once(' ')?;
                Some((index.parse().ok()?, value.parse().ok()?))
            })
            .collect::<Option<_>>()
            .ok_or_else(|| io::Error::other("the program printed something else than values"))
    }

    fn cc(&self) -> Command {
        let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        cc.env("LC_ALL", "C").args([
            "-std=gnu11",
            "-w",
            "-fmax-errors=0",
            "-Werror=implicit-function-declaration",
        ]);
        for folder in &self.include {
            cc.arg("-I").arg(folder);
        }
        cc
    }
}

/// Runs a command; an error says which.
fn output(command: &mut Command) -> io::Result<Output> {
    command.output().map_err(|error| {
        let program = command.get_program().to_string_lossy();
        io::Error::new(error.kind(), format!("cannot run {program}: {error}"))
    })
}
