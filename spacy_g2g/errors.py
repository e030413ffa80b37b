"""Every error and warning text of the library, each with a code.

Use as ``raise ValueError(Errors.E101.format(...))``. Codes: 1xx ``parsing``, 2xx ``layers``,
3xx ``formats``, ``training``, ``evaluation`` and ``cli``, 4xx ``models``, 5xx ``pipeline``.
A text names the bad value and says what was expected.
"""


class _TextsWithCodes(type):
    """Puts the attribute's name in front of its text: ``Errors.E101`` -> ``"[G2G-E101] ..."``."""

    def __getattribute__(cls, name: str) -> str:
        text: str = super().__getattribute__(name)
        return text if name.startswith("__") else f"[G2G-{name}] {text}"


class Errors(metaclass=_TextsWithCodes):
    """Texts of exceptions, to be completed with ``str.format``."""

    # 1xx: parsing
    E101 = "Heads have dtype {dtype} and shape {shape}: expected whole numbers in {n_dims} dimension(s)."
    E102 = (
        "Lengths of sentences are {lengths}: expected {batch} whole number(s) from 0 to {width}, "
        "one for each sentence of the batch."
    )
    E103 = (
        "Head {head} of word {word} is out of range (sentence {sentence} of the batch): "
        "expected 0 (ROOT) to {n}."
    )
    E104 = "Heads have a cycle: {cycle}. Expected every word to reach ROOT (0)."
    E105 = "Scores of arcs have shape {shape}: expected [sentences, n, n + 1], with ROOT in column 0."
    E106 = (
        "The score of word {head} as the head of word {word} is {value} (sentence {sentence} of the batch): "
        "expected a finite number, or -inf for an arc that is forbidden."
    )
    E107 = (
        "No tree with a single root is possible for sentence {sentence} of the batch: "
        "expected fewer forbidden arcs (scores of -inf)."
    )
    E108 = (
        "Word {word} can have no head, since all its scores are -inf (sentence {sentence} of the batch): "
        "expected at least one arc that is not forbidden."
    )
    E110 = "The heads of sentence {sentence} of the batch are no tree: expected a tree with one root."
    E111 = (
        "The tree of sentence {sentence} of the batch is not projective: expected a projective tree, or a "
        "transition system with SWAP."
    )
    E130 = (
        "{n} of the {total} nodes of the AMR have no way to its top. Expected a connected graph, such as "
        "build_graph() gives."
    )
    E131 = (
        "{where}: can't read the AMR {text}: {error}. Expected a graph as in (b / bark-01 :ARG0 (d / dog))."
    )
    E132 = "{where}: {rest} follows the AMR. Expected one graph, and an empty line after it."
    E133 = "{where}: an empty node () in the AMR. Expected a variable and a concept, as in (d / dog)."
    E134 = (
        "{where}: the variable {variable!r} has a second tree. Expected its concept once, and elsewhere the "
        "variable alone."
    )
    E135 = (
        "{where}: the role {role!r} of the variable {variable!r} has no target, or is missing. Expected both."
    )
    E136 = (
        "There is no AMR in {path}; {n} could not be read. Expected one or more, of the ids that are wanted."
    )
    E137 = "on_error is {on_error!r}. Expected 'raise' or 'skip'."
    E138 = "The range of ids {entry!r} ends before it starts. Expected it as in 'lpp_1943.1..145'."
    E139 = (
        "AMRs can't be read without penman ({error}). Expected it to be installed, as by: "
        "pip install 'spacy-g2g[amr]'"
    )
    E140 = "{n} words have {found} lemmas. Expected one for each."
    E141 = "{action} is not valid in the state {state} (stack | buffer). Expected an action that is."
    E142 = "candidates is {candidates!r}. Expected one of: {expected}."
    E143 = "Words were seen with the labels {labels}, which no PRED has. Expected the labels of PREDs."
    E144 = "The table of actions can't be read: {error}. Expected what ActionTable.to_dict() gave."
    E145 = "unaligned is {unaligned!r}. Expected one of: {expected}."
    E146 = "doc._.amr is {found}. Expected a list with the text of an AMR for each sentence, or None."
    E147 = (
        "doc._.amr has {n} AMR(s), but the Doc {text!r}... has {sentences} sentence(s). Expected one for "
        "each, and no new boundaries after AMRs are set."
    )
    E148 = "{where}: the AMR has no words. Expected a line of its sentence, as in '# ::snt The dog barked .'"
    E150 = "What was learned of AMRs can't be read: {error}. Expected what AmrScheme.to_dict() gave."

    # 2xx: layers
    E201 = "Unknown activation {activation!r}. Expected one of: {known}."
    E202 = "A sequence of {n} pieces is too long for this encoder. Expected at most {n_positions}."
    E203 = "Segments were given to an encoder that has no segment embeddings (n_segments = 0). Expected None."
    E204 = "The width {width} does not divide among {n_heads} attention heads. Expected a multiple of it."
    E205 = "{n_edges} edges were given to an encoder without relations (n_relations = 0). Expected none."
    E206 = (
        "Can't find the encoder checkpoint {name!r}: there is no such folder, and the Hugging Face hub did "
        "not give a model of this name. Expected a local folder or a hub name such as 'bert-base-cased'. "
        "Cause: {cause}"
    )
    E207 = "The checkpoint folder {folder} has no file {file}. Expected {expected}."
    E208 = "Can't read {path}: the file is damaged or incomplete. Cause: {cause}"
    E209 = "{path}: can't load checkpoints of model_type {found!r}. Expected one of: {known}."
    E210 = "{path}: {key!r} is missing. Expected the configuration of a model of type {model_type!r}."
    E211 = "{path}: {key} is {found!r}. Expected {expected}."
    E212 = "{path}: there is no tensor {name!r}. Expected the weights of a model of type {model_type!r}."
    E213 = "{path}: the tensor {name!r} has the shape {found}. Expected {expected}, by {config}."
    E214 = "Can't keep {n_layers} layers of a checkpoint. Expected 1 to {available}, which it has."
    E215 = "Weights do not fit the encoder: {name!r} has the shape {found}. Expected {expected}."
    E216 = "Weights do not fit the encoder. Missing: {missing}. Unknown: {unknown}. Expected the same names."

    E217 = (
        "{name} does not have the sentences and words of the gold file. Expected {expected}, found {found}."
    )
    E218 = "None of the {n} gold words count ({compared}). Expected one or more that do."
    E219 = "Can't rank sentences by {by!r}. Expected one of: {known}."

    E240 = "There are {gold} gold AMRs, but {predicted} predicted ones. Expected as many."
    E241 = "restarts is {restarts}. Expected 0 or more."

    # 3xx: formats, training, evaluation, cli
    E301 = "{where}: expected 10 columns separated by tabs, found {found}: {row!r}"
    E302 = "{where}: byte 0x{value:02x} is not UTF-8. Expected UTF-8 text."
    E303 = (
        "{where}: broken ID {value!r}. Expected the word {expected}, an empty node after the last word (as "
        "in 3.1), or a multiword token (as in 4-5) that starts here and reaches neither into another nor "
        "beyond the sentence."
    )
    E304 = "{where}: head {head!r}. Expected the ID of a word of the sentence, or 0 for the root."
    E305 = "{where}: a sentence without words."
    E306 = "{where}: several roots: the words {roots} have the head 0. Expected one root."
    E307 = "{where}: the heads form a cycle: {cycle}. Expected a tree."
    E308 = "Column {name!r} has {found} values for {expected} words. Expected one value for each word."
    E309 = "{where}: the column FORM is empty."
    E318 = (
        "The pipeline gave the sentence {sentence!r} {n} AMR(s) and the tokens {words}. Expected one at "
        "most, and the words of the file: a pipeline that neither merges nor splits tokens or sentences."
    )
    E319 = (
        "Sentence {text!r} has no AMR: the components {names} set no doc._.amr. Expected an amr_parser, or "
        "another component that sets it, among them."
    )
    E320 = "n_sents is {n_sents}. Expected 1 or more sentences a Doc."
    E321 = "Unknown annotations {names}. Expected names out of {expected}."
    E322 = "Annotations {names} have one of HEAD and DEP without the other. Expected both or none."
    E323 = (
        "The tokens {words} are not the words of the CoNLL-U sentence {sentence!r} that the Doc was read "
        "from. Expected a pipeline that neither merges nor splits tokens, or a Doc without "
        "doc.user_data['conllu']."
    )
    E324 = (
        "The head {head!r} of the word {word!r} (token {index} of the Doc) is in another sentence. "
        "Expected trees inside the Doc's sentences."
    )
    E330 = "The corpus has no path. Expected a .spacy or .conllu file, or a folder of them."
    E331 = "There is no corpus at {path}. Expected a .spacy or .conllu file, or a folder of them."
    E332 = "{path} is not a corpus. Expected a .spacy or .conllu file, or a folder that has some."
    E333 = "Can't cache what {name!r} writes: the pipeline has {names}. Expected one of its components."
    E334 = (
        "Can't cache what {name!r} writes. Expected it in training.frozen_components, which is {frozen}, "
        "and in training.annotating_components, which is {annotating}."
    )
    E335 = "Can't cache what {name!r} writes: it has no method 'pipe'. Expected a parser."
    E336 = (
        "Can't cache what {name!r} writes: it gets its vectors from {other!r}, which is trained. Expected "
        "{other!r} in training.frozen_components, too, which is {frozen}."
    )
    E337 = (
        "{where}: sentence {number} goes on with {found} from word {word} on, but in {gold} with {expected}. "
        "Expected the same words and sentences in the same order."
    )
    E338 = (
        "{path} ends after {number} sentences, but {other} goes on with {words}. Expected the same sentences."
    )
    E339 = (
        "doc._.g2g_initial of a Doc with {n} tokens has the {name} {found}. Expected "
        '{{"heads": [...], "deps": [...]}} with a value for each token: the number of its head, or -1 for '
        'none, and its label, or "".'
    )
    E340 = "{path}: unknown file type {suffix!r}. Expected one of {expected}."
    E341 = "There is no .conllu file at {path}."
    E342 = "{path}, line {line}: {row!r} is not a document. Expected a JSON object with a string 'text'."
    E343 = "There is no file {path}."
    E344 = (
        "Neither trees nor AMRs: the components {names} set no heads and no doc._.amr. Expected a parser "
        "such as g2g_parser or amr_parser among them."
    )
    E349 = (
        "{path}, line {number}: {line!r} is a line of a file of AMRs, not of text. Expected text; a file of "
        "AMRs must be called .amr here."
    )
    E350 = "The pipeline has the components {names}. Expected a g2g_parser among them."
    E351 = "runs is {runs}. Expected 1 or more."
    E360 = "{where}: a token of white space only cannot be evaluated."
    E361 = (
        "The gold and the system text differ from character {index} on, white space not counted: "
        "{gold!r} and {system!r}. Expected two annotations of the same text."
    )
    E370 = (
        "The columns of the graph {name!r} have the lengths {found}. Expected one value for each of the "
        "{expected} words."
    )
    E371 = "Heads {heads} of the graph {name!r} are out of range. Expected -1 (no head) to {last}."
    E380 = (
        "Sentence {sentence}, graph {graph}: (heads, labels) are {found} in number. Expected one of each for "
        "each of the {n} words."
    )
    E381 = "Sentence {sentence}, graph {graph}: heads {heads} are out of range. Expected {least} to {n}."
    E382 = (
        "Sentence {sentence} has {passes} passes and {graphs} graphs. Expected 0 passes or more, the initial "
        "graph, and a graph for each pass."
    )
    E383 = "The pipeline has the components {names}. Expected an rng_refiner among them."
    E384 = (
        "Can't draw without matplotlib ({error}). Expected it to be installed, as by: "
        "pip install 'spacy-g2g[plots]'"
    )
    E385 = (
        "{name} has dtype {dtype} and shape {shape}. Expected whole numbers, one for each of the sentences, "
        "at least one, that both systems parsed."
    )
    E386 = "Sentence {sentence}: {a} and {b} are right of {total} words. Expected 0 to {total}, of 1 or more."
    E387 = "resamples is {resamples} and confidence {confidence}. Expected 1 or more, and between 0 and 1."
    E388 = (
        "The systems are named {names}. Expected a name for each of the {n} files, no two the same and none "
        "empty."
    )

    E389 = (
        "{path} has multiword tokens, whose words can't be found in the text again without its sentences. "
        "Expected a file without any, or --raw."
    )
    E390 = "Punctuation to leave out is {name!r}. Expected one of: {expected}."
    E391 = (
        "{where}: expected the 10 columns of CoNLL-X separated by tabs, or the first 8, found {found}: "
        "{row!r}"
    )
    E392 = (
        "The AMR corpus has no path. Expected a file of AMRs (.txt, .amr), a .spacy file, or a folder of "
        "them."
    )
    E393 = (
        "There is no AMR corpus at {path}. Expected a file of AMRs (.txt, .amr), a .spacy file, or a folder "
        "of them."
    )
    E394 = "{path} is no AMR corpus. Expected files of these types: {expected}."
    E395 = (
        "The pipeline has the components {names}, and of ours it trains none (training.frozen_components is "
        "{frozen}). Expected a g2g_parser or rng_refiner that is trained."
    )
    E396 = (
        "{name!r} can't be read: {error} Expected the path of a corpus in the config, or by an option such "
        "as --paths.train FILE."
    )

    # 4xx: models
    E401 = (
        "The content of tokenizer.json can't be read: {error}. Expected a tokenizer of the tokenizers "
        "library."
    )
    E402 = "The tokenizer has no known family of special pieces. Expected {families}."
    E403 = (
        "No encoder has width {width}, {n_layers} layers, {n_attention_heads} attention heads and "
        "feed-forward "
        "width {hidden_width}. Expected numbers above 0, and a width that is a multiple of the "
        "attention heads."
    )
    E404 = "n_positions is {n_positions}. Expected 8 or more."
    E405 = (
        "The model is not initialised. Expected nlp.initialize(get_examples), training, or a pipeline "
        "loaded from disk before it is used."
    )
    E406 = "The saved weights can't be read: {error}. Expected the whole file that was saved."
    E407 = (
        "The model {name!r} holds no parser. Expected an architecture of spacy_g2g such as "
        "spacy_g2g.SynTr.v1."
    )
    E408 = "tag_attr is {tag_attr!r}. Expected None, 'POS' or 'TAG'."
    E409 = "{setting} is {value}. Expected a number {expected}."
    E410 = "The scores are not numbers (NaN): training has diverged. Expected a lower learning rate."
    E411 = "The loss is {loss}: training has diverged. Expected a lower learning rate, or gradient clipping."

    E412 = "{setting} is {value!r}. Expected one of {choices}."
    E413 = (
        "The initial graph gives word {word} of {n} words the head {head} and the label id {label}. Expected "
        "a head from -1 (none) to the number of words, and a label id below {n_labels}."
    )

    E414 = (
        "The pipeline {path} has no component {component!r} with a parser's encoder. Expected one of {names}."
    )

    E415 = (
        "tag_attr is {tag_attr!r}, but words come as vectors of a shared encoder, to which tags can't be "
        "added. Expected one of tag_attr and tok2vec to be null."
    )
    E416 = (
        "The parser has no encoder of its own, but reads the vectors of a shared one, to which graphs can't "
        "be given, and which can't be copied. Expected a model with tok2vec = null."
    )
    E417 = "state_heads has {unknown}. Expected a list of any of {choices}."
    E418 = "state_heads ties {heads}, but there are {n_heads} attention heads. Expected no more than those."
    E419 = "A parser of AMR can't be given {n} labels. Expected its actions, which are set when it is built."

    # 5xx: pipeline
    E501 = (
        "No labels for {name!r}: the examples have no dependency labels, and none were given. Expected "
        "nlp.initialize(get_examples) with Examples that have heads and deps, or add_label before."
    )
    E502 = (
        "Labels {unknown} were not seen when {name!r} was initialised. Expected one of {labels}, or "
        "add_label before training on."
    )
    E503 = "Can't add the label {label!r}. Expected a string of one character or more."
    E504 = "{path} is missing. Expected the files of a saved g2g component in {folder}."
    E505 = "{path} can't be read: {error}"
    E506 = "{origin}: {found} labels, but the saved model has {expected}. Expected files saved together."
    E507 = "{setting} is {rate}. Expected a share from 0 to 1."
    E508 = (
        "{origin}: {found} labels of initial graphs, but the saved model has {expected}. Expected files "
        "saved together."
    )
    E510 = (
        "[initialize.components.{name}.encoder] gives weights, but the model of {name!r} has tok2vec "
        "{encoder!r}, which has its own. Expected one of the two: no such block, or tok2vec = null."
    )
    E511 = (
        "The layer {layer!r} gives {found} vectors for {expected} tokens. Expected one for each token of "
        "each Doc, as of a tok2vec or of a listener."
    )
    E509 = (
        "{name!r} can learn from none of the {n} sentences that have heads. Expected whole trees with "
        "one root, and projective ones where the model has swap = false."
    )
    E512 = "{setting} of amr_parser is {value}. Expected {expected}."
    E513 = (
        "{name!r} has the model {model!r}, which builds {builds}. Expected one that builds {expected}: "
        "spacy_g2g.AmrStackTransformer.v1 for amr_parser, the other ones for g2g_parser and rng_refiner."
    )
    E514 = (
        "{name!r} got no AMR to learn from: {n} sentences, {amrs} AMRs in doc._.amr, none of the same text. "
        "Expected Examples whose references have doc._.amr. It gets lost in a DocBin made without "
        "store_user_data=True, and in spacy.Corpus.v1 with gold_preproc = true or a max_length other than 0; "
        "the reader spacy_g2g.AMRCorpus.v1 and files of `g2g convert-amr` have it."
    )
    E515 = (
        "{origin}: the actions of the network are not those of the component. Expected cfg and model that "
        "were saved together."
    )

    E516 = (
        "The label {label!r} can't be added to {name!r}: the model {model!r} has no attribute resize_output. "
        "Expected all labels in nlp.initialize."
    )


class Warnings(metaclass=_TextsWithCodes):
    """Texts of warnings, to be completed with ``str.format``."""

    W401 = (
        "The parser's scorers do not fit this model, so only its encoder was copied. Found weights {found} "
        "and labels {found_labels}. Expected {expected} and {labels}, and the same tags, frequent words or "
        "actions, if any. Set scorers = false to silence this warning."
    )
    W501 = (
        "{name!r} got a Doc without sentence boundaries and parses it as one sentence. To set "
        "boundaries, add a "
        "component such as 'senter' (trained) or 'sentencizer' (rules) before it: "
        "nlp.add_pipe('sentencizer', before='{name}'). This is said once."
    )
    W502 = (
        "{n} sentence(s) of the Doc {text!r}... have more pieces than the encoder has positions "
        "(the longest has "
        "{longest} words): their words were read by their first pieces. Nothing is left out of the parse."
    )
    W503 = (
        "{n} sentence(s) of the Doc {text!r}... have more words than the encoder has positions "
        "(the longest has "
        "{longest} words): they were read in overlapping windows. Nothing is left out of the parse."
    )
    W504 = (
        "{name!r} can't learn from {n} of {of} sentences, which training leaves out: their trees are "
        "incomplete, have several roots, or are not projective and the model has swap = false."
    )
    W505 = (
        "{n} sentence(s) of the Doc {text!r}... have states with more words than the encoder has positions "
        "(the longest has {longest} words): of each state the words nearest to the action were read. "
        "Nothing is left out of the parse."
    )
    W506 = (
        "None of the {n} words of {path} is punctuation by {name!r}, which is {rule}. Expected that column "
        "and tag set in the gold file, or another choice; scores without punctuation are those with it."
    )
    W513 = "{n} AMR(s) of {path} can't be read and are left out. The first: {first}"
    W514 = (
        "{n} of {of} sentences of {path} look as if their text was not tokenised, and there is no ::tok; "
        "such words keep their punctuation marks, as {word!r} does. Expected gold_tokens = false "
        "(convert-amr: --no-gold-tokens) for such a file."
    )
    W507 = (
        "{name}: {n} of {of} AMRs are of sentences that the predicted Docs do not have with the same text. "
        "They are not learned."
    )
    W508 = (
        "{name}: its settings {given} are not those that what it knows of AMRs was learned with, {learned}, "
        "which hold. Expected the same, or nlp.initialize without labels."
    )
    W515 = (
        "No AMR of {path} has one of the ids {missing}. Expected ids of the file, or ranges that have some."
    )
