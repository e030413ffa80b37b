"""Shape and arithmetic of an encoder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EncoderConfig:
    """Shape and arithmetic of an encoder. ``dataclasses.asdict`` of it is plain JSON.

    vocab_size: Number of pieces in the vocabulary.
    width: Width of the layers.
    embedding_width: Width of the embeddings, which may differ from ``width``.
    n_layers: Number of layers.
    n_attention_heads: Attention heads of each layer.
    hidden_width: Width of the feed-forward networks.
    n_key_heads: Heads of keys and values; 0 for as many as attention heads.
    n_positions: Length of the longest input, in pieces (512 for RoBERTa's 514).
    position_table: Whether positions have vectors, which are added to the input.
    project_first: Whether embeddings of another width are projected before their norm, not after it.
    position_offset: First row of the position table in use (RoBERTa family: pad id + 1).
    rotary_base: Base of rotary positions (Su et al. 2021); 0 for none.
    window: Greatest distance at which positions see each other in a local layer; 0 if no layer is local.
    global_every: Layers with a number that this number divides are global, the others are local.
    local_rotary_base: Base of rotary positions in local layers.
    n_segments: Number of segment types; 0 for no segment table (DistilBERT).
    pad_id: Id of the padding piece.
    embedding_norm: Whether the input vectors are normalised.
    norm: Kind of all norms: "layer" (Ba et al. 2016) or "rms" (Zhang & Sennrich 2019).
    norm_bias: Whether layer norms have a bias.
    layer_norm_eps: Constant that keeps norms from dividing by zero.
    pre_norm: Whether norms stand before attention and feed-forward networks instead of after the residual
        connections. Then one more norm follows the last layer.
    content_to_position: Whether attention has this term of disentangled attention; see ``disentangled.py``.
    position_to_content: Whether attention has this term.
    max_distance: Number of distances on each side, or the end of their scale; 0 for no distances. The scale
        of attention is the same with them and without them.
    distance_buckets: Number of buckets of distances on each side; 0 for a vector for each distance.
    distance_norm: Whether the vectors of distances are normalised.
    share_projections: Whether the projections of queries and keys serve the vectors of distances, too.
    convolution_width: Number of positions that a convolution beside the first layer reads; 0 for none.
    convolution_groups: Number of groups of channels of that convolution.
    convolution_activation: Activation of that convolution: "tanh", or as ``activation``.
    attention_bias: Whether the linear layers of attention have a bias.
    feedforward_bias: Whether the linear layers of the feed-forward networks have a bias.
    activation: "gelu", "gelu_new" (by tanh), "relu" or "silu".
    gated: Whether feed-forward networks are gated; see ``FeedForward``.
    dropout: Dropout rate of hidden vectors.
    attention_dropout: Dropout rate of attention weights.
    initializer_range: Standard deviation of random weights.
    n_added_pieces: Number of pieces after the vocabulary that no checkpoint knows (ROOT).
    n_relations: Number of relations of the graph input; see ``GraphSelfAttention``.
    normalise_keys: Whether relation keys are normalised; see ``GraphSelfAttention``.
    """

    vocab_size: int
    width: int
    embedding_width: int
    n_layers: int
    n_attention_heads: int
    hidden_width: int
    n_key_heads: int = 0
    n_positions: int = 512
    position_table: bool = True
    project_first: bool = False
    position_offset: int = 0
    rotary_base: float = 0.0
    window: int = 0
    global_every: int = 1
    local_rotary_base: float = 0.0
    n_segments: int = 2
    pad_id: int = 0
    embedding_norm: bool = True
    norm: str = "layer"
    norm_bias: bool = True
    layer_norm_eps: float = 1e-12
    pre_norm: bool = False
    content_to_position: bool = False
    position_to_content: bool = False
    max_distance: int = 0
    distance_buckets: int = 0
    distance_norm: bool = False
    share_projections: bool = True
    convolution_width: int = 0
    convolution_groups: int = 1
    convolution_activation: str = "tanh"
    attention_bias: bool = True
    feedforward_bias: bool = True
    activation: str = "gelu"
    gated: bool = False
    dropout: float = 0.1
    attention_dropout: float = 0.1
    initializer_range: float = 0.02
    n_added_pieces: int = 0
    n_relations: int = 0
    normalise_keys: bool = False

    def is_local(self, number: int) -> bool:
        """Return whether the positions of a layer see a window. Layers are numbered from 0."""
        return self.window > 0 and number % self.global_every > 0
