"""What the recipe of one nest does on another one, measured for many pairs of nests.

`measure` fills logs, `corpus` packs them into Parquet files and reads these, for choosing recipes
to be learnt from them.
"""
