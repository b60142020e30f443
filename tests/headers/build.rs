//! Reads the source of `uverbs-uapi` and lists every constant and struct in it, so that none can be left unchecked.
//!
//! The C name is the Rust name, or the `doc(alias)` if there is one. The kernel that a name needs is what its docs say.
//! An item of a kind that is not known here stops the build.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, Ident, Item, Lit, LitStr, Meta, Token, Type, Visibility, braced};

fn main() {
    let source = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../uapi/src");
    println!("cargo::rerun-if-changed={}", source.display());
    let mut tables = Tables::default();
    for file in files(&source) {
        let relative = file.strip_prefix(&source).expect("it was found there").with_extension("");
        // What lies in the folder of a module is re-exported by the module.
        let module =
            relative.iter().next().expect("a path has a part").to_str().expect("it is ASCII").to_owned();
        let text = fs::read_to_string(&file).expect("the source is readable");
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for item in &parsed.items {
            tables.item(&module, item, &file);
        }
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("tables.rs"), tables.rust()).expect("the output folder is writable");
}

/// The source files below `folder`, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the source is there") {
        let path = entry.expect("the source is readable").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Rust source of the lists of constants and structs.
#[derive(Default)]
struct Tables {
    constants: String,
    structs: String,
}

impl Tables {
    fn item(&mut self, module: &str, item: &Item, file: &Path) {
        match item {
            Item::Const(item) if matches!(item.vis, Visibility::Public(_)) && is_integer(&item.ty) => {
                self.constant(
                    module,
                    &item.ident.to_string(),
                    &format!("{module}::{}", item.ident),
                    &item.attrs,
                );
            }
            Item::Struct(item) if alias(&item.attrs).is_some() => self.structure(module, item),
            Item::Macro(item) => {
                match item.mac.path.segments.last().expect("a path has a part").ident.to_string() {
                    name if name == "bitflags" => {
                        let Flags { name, flags } = item.mac.parse_body().expect("bitflags are as expected");
                        for Declared { ident, attributes } in flags {
                            let c_name = alias(&attributes).expect("a flag has an alias");
                            self.constant(
                                module,
                                &c_name,
                                &format!("{module}::{name}::{ident}.bits()"),
                                &attributes,
                            );
                        }
                    }
                    name if name == "named_constants" => {
                        let NamedConstants(constants) =
                            item.mac.parse_body().expect("named constants are as expected");
                        for Declared { ident, attributes } in constants {
                            self.constant(
                                module,
                                &ident.to_string(),
                                &format!("{module}::{ident}"),
                                &attributes,
                            );
                        }
                    }
                    // Layouts list themselves; the others declare nothing of the kernel's.
                    name if ["prm_layouts", "assert_layout", "macro_rules"].contains(&name.as_str()) => {}
                    name => panic!("{}: what does `{name}!` declare?", file.display()),
                }
            }
            // Rust's own: a list, a transparent newtype of flags, a field of bits, code.
            Item::Const(_) | Item::Struct(_) | Item::Impl(_) | Item::Fn(_) | Item::Use(_) | Item::Mod(_) => {}
            _ => panic!("{}: an item of an unknown kind", file.display()),
        }
    }

    fn constant(&mut self, module: &str, c_name: &str, path: &str, attributes: &[Attribute]) {
        let since = since(attributes);
        write!(
            self.constants,
            "Constant {{ module: {module:?}, name: {c_name:?}, value: u64::from_number(uverbs_uapi::{path}), since: {since} }},"
        )
        .expect("a string grows");
    }

    fn structure(&mut self, module: &str, item: &syn::ItemStruct) {
        let c_name = alias(&item.attrs).expect("the caller has looked");
        let path = format!("uverbs_uapi::{module}::{}", item.ident);
        let mut fields = String::new();
        for field in &item.fields {
            let ident = field.ident.as_ref().expect("a struct of the kernel has named fields");
            let c_name = alias(&field.attrs).unwrap_or_else(|| ident.to_string());
            let since = since(&field.attrs);
            write!(
                fields,
                "Member {{ name: {c_name:?}, offset: offset_of!({path}, {ident}), size: size_of_field(|it: &{path}| &it.{ident}), since: {since} }},"
            )
            .expect("a string grows");
        }
        let since = since(&item.attrs);
        write!(
            self.structs,
            "Structure {{ module: {module:?}, name: {c_name:?}, size: size_of::<{path}>(), since: {since}, members: vec![{fields}] }},"
        )
        .expect("a string grows");
    }

    fn rust(&self) -> String {
        format!(
            "pub(crate) fn constants() -> Vec<Constant> {{ vec![{}] }}\npub(crate) fn structures() -> Vec<Structure> {{ vec![{}] }}\n",
            self.constants, self.structs
        )
    }
}

fn is_integer(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if ["u8", "u16", "u32", "u64", "usize"].iter().any(|name| path.path.is_ident(name)))
}

/// The `doc(alias)` of an item.
fn alias(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).find_map(|attribute| {
        let mut found = None;
        if let Meta::List(_) = attribute.meta {
            attribute
                .parse_nested_meta(|meta| {
                    found = Some(meta.value()?.parse::<LitStr>()?.value());
                    Ok(())
                })
                .expect("doc has an alias");
        }
        found
    })
}

/// The first kernel that has an item, as its docs say: Rust source of an `Option<Version>`.
fn since(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for attribute in attributes {
        if let Meta::NameValue(meta) = &attribute.meta {
            if let Expr::Lit(expression) = &meta.value {
                if let Lit::Str(line) = &expression.lit {
                    text += &line.value();
                }
            }
        }
    }
    if text.contains("not in Linux 5.10") {
        return "Some(Version(5, 11))".to_owned();
    }
    if text.contains("since the 7 series") {
        return "Some(Version(7, 0))".to_owned();
    }
    match text.split_once("since Linux ") {
        // "0 since" tells since when a field is of no use.
        Some((before, after)) if !before.ends_with("0 ") => {
            let version =
                after.split(|c: char| c != '.' && !c.is_ascii_digit()).next().expect("split gives one");
            let (major, minor) =
                version.trim_end_matches('.').split_once('.').expect("a version has a point");
            format!("Some(Version({major}, {minor}))")
        }
        _ => "None".to_owned(),
    }
}

/// A constant inside a macro.
struct Declared {
    ident: Ident,
    attributes: Vec<Attribute>,
}

/// `impl Name: type { const FLAG = value; … const _ = !0; }`
struct Flags {
    name: Ident,
    flags: Vec<Declared>,
}

impl Parse for Flags {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        input.parse::<Token![impl]>()?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        input.parse::<Type>()?;
        let body;
        braced!(body in input);
        let mut flags = Vec::new();
        while !body.is_empty() {
            let attributes = body.call(Attribute::parse_outer)?;
            body.parse::<Token![const]>()?;
            let flag = if body.peek(Token![_]) {
                body.parse::<Token![_]>().map(|_| None)?
            } else {
                Some(body.parse()?)
            };
            body.parse::<Token![=]>()?;
            body.parse::<Expr>()?;
            body.parse::<Token![;]>()?;
            flags.extend(flag.map(|ident| Declared { ident, attributes }));
        }
        Ok(Self { name, flags })
    }
}

/// `function: type, prefix { NAME = value, … }`
struct NamedConstants(Vec<Declared>);

impl Parse for NamedConstants {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Ident>()?;
        input.parse::<Token![:]>()?;
        input.parse::<Type>()?;
        input.parse::<Token![,]>()?;
        input.parse::<LitStr>()?;
        let body;
        braced!(body in input);
        let mut constants = Vec::new();
        while !body.is_empty() {
            let attributes = body.call(Attribute::parse_outer)?;
            constants.push(Declared { ident: body.parse()?, attributes });
            body.parse::<Token![=]>()?;
            body.parse::<Lit>()?;
            body.parse::<Option<Token![,]>>()?;
        }
        Ok(Self(constants))
    }
}
