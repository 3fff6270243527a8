"""Maximum expected BLEU training of millions of features of phrase pairs (He & Deng 2012; Wuebker et al. 2015)."""
